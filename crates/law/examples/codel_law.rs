//! The tree's CoDel as a separate library, for the tests of equality.

use sojourn_aqm::laws::codel::CoDel;

sojourn_law::export_law!(CoDel as "codel_rust");

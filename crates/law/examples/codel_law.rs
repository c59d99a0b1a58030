//! CoDel of the tree as a library of its own, for the tests of equality.

use sojourn_aqm::laws::codel::CoDel;

sojourn_law::export_law!(CoDel as "codel_rust");

//! PIE of the tree as a library of its own, for the tests of equality.

use sojourn_aqm::laws::pie::Pie;

sojourn_law::export_law!(Pie as "pie_rust");

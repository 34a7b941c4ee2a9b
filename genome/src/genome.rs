use std::fmt;

use serde::{Deserialize, Serialize};

/// One value index per gene of a [`SearchSpace`](crate::SearchSpace), in the order of its genes.
///
/// A genome means nothing without its space, and may be illegal in it; a gene without effect is 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Genome(pub Box<[u16]>);

impl fmt::Display for Genome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if at == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

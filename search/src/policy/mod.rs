//! A learned policy of mutation: which gene of a parent to change, and how.
//!
//! Every possible edit (gene × kind of change) is described by what it means: where the search stands, what kind
//! of gene it is and where in its range, what became of such edits in this search, how fast points with the new
//! value were. Names and places of genes are never seen, and one small network scores all edits, so the same
//! weights serve any space with any number of genes. An edit is drawn by the softmax of the scores.
//!
//! Learned by policy gradient (Williams 1992, "Simple statistical gradient-following algorithms for
//! connectionist reinforcement learning": REINFORCE) with a learned baseline that depends on the state alone
//! (Sutton et al. 2000, "Policy gradient methods for reinforcement learning with function approximation"), from
//! judged trials only: within a search, one step a trial, or [`train`]ed over whole searches on recorded spaces,
//! with Adam (Kingma & Ba 2015) and a reward for keeping the choice open (after Williams & Peng 1991, "Function
//! optimization using connectionist reinforcement learning algorithms"). Kindred: Ahn et al. 2020, "Chameleon:
//! adaptive code optimization for expedited deep neural network compilation"; Sharma et al. 2019, "Deep
//! reinforcement learning based parameter control in differential evolution".
//!
//! No weights come with the program: an untrained policy prefers nothing and learns as it goes.
//!
//! | file | holds |
//! |---|---|
//! | `edit.rs` | what is chosen among |
//! | `experience.rs` | what one search has seen of its genes |
//! | `features.rs` | what the policy sees of an edit |
//! | `network.rs` | scores, probabilities, their gradient |
//! | `model.rs` | the policy, its choice, its stored form |
//! | `learner.rs` | a policy at work in one search |
//! | `train.rs` | training over whole searches |

mod edit;
mod experience;
mod features;
mod learner;
mod model;
mod network;
mod train;

pub use learner::Learning;
pub use model::{Policy, PolicyError};
pub use train::{TrainSettings, train};

pub(crate) use features::View;
pub(crate) use learner::{Judgement, Learner};

#[cfg(test)]
mod tests;

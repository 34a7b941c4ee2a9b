//! `tilewright campaign`: a matrix of campaigns.
//!
//! | file | holds |
//! |---|---|
//! | `folder.rs` | the file that asks, the folder that answers |
//! | `cell.rs` | one campaign: what it is asked, how it is carried out |
//! | `run.rs`, `display.rs` | all of them, and the one line that says how far they are |
//! | `status.rs` | what has become of each |
//! | `compare.rs` | how the strategies compare |

mod arguments;
mod cell;
mod compare;
mod display;
mod folder;
mod run;
mod status;

use anyhow::Result;

use crate::Ending;
use folder::Folder;

pub(crate) use arguments::CampaignCommand;

/// Runs the command.
pub(crate) fn campaign(command: &CampaignCommand) -> Result<Ending> {
    match command {
        CampaignCommand::Run(arguments) => {
            run::run(&mut Folder::create(&arguments.file, arguments.out.as_deref())?, &arguments.how)
        }
        CampaignCommand::Resume(arguments) => run::run(&mut Folder::open(&arguments.folder)?, &arguments.how),
        CampaignCommand::Status(arguments) => {
            status::print(&Folder::open(&arguments.folder)?, arguments.json)?;
            Ok(Ending::Done)
        }
        CampaignCommand::Compare(arguments) => compare::compare(arguments),
    }
}

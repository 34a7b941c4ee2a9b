//! The `tilewright` command: opens files, wires the parts, talks to the user.

mod advice;
mod arguments;
mod audit;
mod campaign;
mod conduct;
mod device;
mod export;
mod facts;
mod fsck;
mod heuristics;
mod judge;
mod npy;
mod operators;
mod output;
mod output_file;
mod place;
mod progress;
mod proposer;
mod publish;
mod ranker;
mod registry;
mod remeasure;
mod report;
mod run;
mod score;
mod target;
mod tune;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::arguments::{Arguments, Command};

/// How a command ended, when not by an error.
pub(crate) enum Ending {
    Done,
    NothingValid,
    /// Stored files are not what was written.
    Damaged,
    Interrupted,
    /// A promise that was checked does not hold.
    Broken,
}

fn main() -> ExitCode {
    tilewright_evaluator::run_if_worker();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match dispatch(arguments.command) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::NothingValid) => ExitCode::from(3),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Ok(Ending::Damaged | Ending::Broken) => ExitCode::from(1),
        Err(error) => {
            output::note(&format!("error: {error:#}"));
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

/// Input that cannot be used, as opposed to work that failed.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

/// The same error as one about input that cannot be used.
pub(crate) fn unusable(error: impl Into<anyhow::Error>) -> anyhow::Error {
    UsageError(format!("{:#}", error.into())).into()
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// The manual page of a command, by the names that lead to it.
fn manual(names: &[String]) -> anyhow::Result<String> {
    let mut command = Arguments::command();
    command.build();
    for name in names {
        let Some(inner) = command.find_subcommand(name) else {
            let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            anyhow::bail!(UsageError(format!("no command `{name}`; there are: {}", known.join(", "))));
        };
        command = inner.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn dispatch(command: Command) -> anyhow::Result<Ending> {
    match command {
        Command::Devices(arguments) => device::devices(&arguments)?,
        Command::Operators(arguments) => operators::operators(&arguments)?,
        Command::Tune(arguments) => return tune::tune(&arguments),
        Command::Campaign(command) => return campaign::campaign(&command),
        Command::Report(arguments) => report::report(&arguments)?,
        Command::Export(arguments) => export::export(&arguments)?,
        Command::Registry(command) => registry::registry(&command)?,
        Command::Heuristics(command) => heuristics::heuristics(&command)?,
        Command::Fsck(arguments) => return fsck::fsck(&arguments),
        Command::Run(arguments) => run::run(&arguments)?,
        Command::Judge(arguments) => return judge::judge(&arguments),
        Command::Score(arguments) => score::run(&arguments)?,
        Command::Audit(arguments) => return audit::audit(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "tilewright", &mut script);
            output::result(&String::from_utf8_lossy(&script))?;
        }
        Command::Manual { command } => output::result(&manual(&command)?)?,
    }
    Ok(Ending::Done)
}

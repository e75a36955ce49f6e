//! `--record` and `--replay`: the model of a run, written down or played.

use crate::exit::UsageError;
use anyhow::Context;
use ropewalk_config::Config;
use ropewalk_host::ModelFactory;
use ropewalk_host::time::today;
use ropewalk_model::tape::{Player, Recorder, Tape, TapeHead};
use ropewalk_model::{Http, Keys, Model, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::ModelLimits;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

/// Recording or playing the model of a run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TapeArgs {
    /// Write what goes to the model and comes back into this file, which must not be there yet. It holds no key.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Play such a file in place of a model: nothing is sent, no key is needed. Each request must be as recorded.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "model"])]
    replay: Option<PathBuf>,
    /// As --replay, but each request gets the answer to the same last message, else the next in order.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "replay", "model"])]
    replay_loose: Option<PathBuf>,
}

/// The models of a run.
pub(super) struct RunModels {
    pub(super) models: ModelFactory,
    /// The date that a recording has, or is to have.
    pub(super) date: Option<String>,
    /// The recorder, to ask it at the end whether all was written.
    pub(super) recorder: Option<Recorder>,
}

/// Puts a recorder around the models that `models` makes, or a player in their place.
pub(super) fn thread(
    args: TapeArgs,
    config: &Config,
    models: ModelFactory,
) -> anyhow::Result<RunModels> {
    let (file, is_exact) = match (args.replay, args.replay_loose) {
        (Some(file), _) => (file, true),
        (None, Some(file)) => (file, false),
        (None, None) => match args.record {
            Some(file) => return record(file, config, models),
            None => return Ok(RunModels { models, date: None, recorder: None }),
        },
    };
    let shown = file.display();
    let wrong = |why: String| UsageError(format!("{shown} can't be played: {why}."));
    let open = File::open(&file).map_err(|error| wrong(error.to_string()))?;
    let tape = Tape::read(BufReader::new(open)).map_err(wrong)?;
    let date = Some(tape.head.date.clone());
    let keys = models(config).map(|model| model.keys()).unwrap_or_default();
    let model = serialiser(&tape.head, keys).map_err(wrong)?;
    let player: Arc<dyn Model> = Arc::new(Player::new(tape, model, is_exact));
    Ok(RunModels { models: Arc::new(move |_| Ok(player.clone())), date, recorder: None })
}

fn record(file: PathBuf, config: &Config, models: ModelFactory) -> anyhow::Result<RunModels> {
    let (Ok(model), Some(name), Some(provider)) =
        (models(config), &config.model, config.model_provider())
    else {
        // A missing model is said by the turn.
        return Ok(RunModels { models, date: None, recorder: None });
    };
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let out = options
        .open(&file)
        .with_context(|| format!("--record {} can't be written", file.display()))?;
    let date = today();
    let head = TapeHead {
        provider: name.provider.clone(),
        model: name.name.clone(),
        protocol: provider.protocol.clone(),
        base_url: provider.base_url.clone(),
        context: model.limits().context,
        output: model.limits().max_output,
        price: model.price(),
        printed_calls: model.takes_printed_calls(),
        lean: provider.facts_of(&name.name).lean,
        date: date.clone(),
        ..TapeHead::default()
    };
    let recorder = Recorder::begin(Box::new(out), head);
    let own = recorder.clone();
    let recorded: ModelFactory = Arc::new(move |config| {
        models(config).map(|model| Arc::new(own.of(model)) as Arc<dyn Model>)
    });
    Ok(RunModels { models: recorded, date: Some(date), recorder: Some(recorder) })
}

/// The model that a recording is of, to write its requests; it is never asked. `keys` are in none of its texts.
fn serialiser(head: &TapeHead, keys: Keys) -> Result<Arc<dyn Model>, String> {
    let unknown = || format!("it speaks {:?}, which is not known", head.protocol);
    let protocol = Protocol::from_name(&head.protocol).ok_or_else(unknown)?;
    let mut config = ServerConfig::new(protocol, &head.model);
    config.provider.clone_from(&head.provider);
    config.base_url.clone_from(&head.base_url);
    config.limits = ModelLimits { context: head.context, max_output: head.output };
    config.price = head.price;
    config.printed_calls = head.printed_calls;
    config.keys = keys;
    config.lean = head.lean;
    let model = ServerModel::new(config, Http::new()).map_err(|error| error.to_string())?;
    Ok(Arc::new(model))
}

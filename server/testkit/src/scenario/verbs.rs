//! The verbs of pages, and how each is used.

/// The verbs of steps and how each is used.
pub(super) const VERBS: &[(&str, &str)] = &[
    ("editor", "editor NAME"),
    ("plugin", "plugin"),
    ("config", "config KEY = VALUE"),
    ("roots", "roots NAME…, or roots none"),
    ("file", "file PATH [crlf] [bom] [unended] and | lines, or file PATH -> TARGET for a link"),
    ("open", "open PATH"),
    (
        "type",
        "type PATH LINE[:COLUMN] \"TEXT\", type PATH end TEXT, or type PATH \"OLD\" -> \"NEW\"",
    ),
    (
        "choose",
        "choose PATH end TITLE, choose PATH FIRST-LAST TITLE, or choose PATH \"WORDS\" TITLE",
    ),
    ("completes", "completes PATH and | lines, or completes PATH none"),
    ("reads", "reads PATH TEXT"),
    ("shown", "shown PATH"),
    ("save", "save PATH, and | lines if a formatter changes the text first"),
    ("undo", "undo PATH"),
    ("prompt", "prompt TEXT, or prompt on PATH FIRST[-LAST] TEXT"),
    ("run", "run COMMAND [JSON]"),
    ("gives", "gives JSON, or gives error WORDS"),
    ("answer", "answer once, session, always, afterSave or refuse [WORDS]"),
    ("crash", "crash server, or crash editor"),
    ("window", "window NUMBER"),
    ("model", "model, and below it, indented, what it sees and says"),
    ("when", "when GATE"),
    ("go", "go GATE"),
    ("end", "end STOP_REASON"),
    ("woken", "woken STOP_REASON"),
    ("buffer", "buffer PATH [crlf] [bom] [unended] and | lines"),
    ("disk", "disk PATH [crlf] [bom] [unended] and | lines, or disk PATH absent"),
    ("hunks", "hunks and | lines, or hunks none"),
    ("message", "message TEXT"),
    ("progress", "progress and | lines"),
];

/// The verbs below which lines with a `|` may stand.
pub(super) const TAKES_BARS: [&str; 7] =
    ["file", "save", "buffer", "disk", "hunks", "progress", "completes"];

/// The verbs of a model's reply.
pub(super) const MODEL_VERBS: &[(&str, &str)] = &[
    ("sees", "sees TEXT"),
    ("lacks", "lacks TEXT"),
    ("holds", "holds TEXT"),
    ("nowhere", "nowhere TEXT"),
    ("offered", "offered TOOL…"),
    ("conversation", "conversation NAME"),
    ("of", "of TEXT"),
    ("thinks", "thinks TEXT"),
    ("says", "says TEXT"),
    ("calls", "calls TOOL JSON"),
    ("stops", "stops STOP_REASON"),
    ("waits", "waits GATE"),
    ("breaks", "breaks"),
    ("fails", "fails STATUS KIND WORDS"),
];

/// How a verb is used, or words about the ones there are.
pub(super) fn usage(
    verbs: &[(&str, &'static str)],
    verb: &str,
    what: &str,
) -> Result<&'static str, String> {
    let found = verbs.iter().find(|(name, _)| *name == verb).map(|(_, usage)| *usage);
    found.ok_or_else(|| {
        let names: Vec<&str> = verbs.iter().map(|(name, _)| *name).collect();
        format!("{verb:?} begins no {what}; these do: {}", names.join(", "))
    })
}

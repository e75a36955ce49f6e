//! The forms in which servers list their models, read into one. `catalogue/SOURCES.md` names the page that each was read on.

use super::ModelListing;
use crate::catalogue::day_number;
use reqwest::Url;
use serde_json::Value;

/// Parts of the names of models that make no text, for servers that list them beside the others and do not tell.
const NOT_FOR_TEXT: &[&str] = &[
    "-audio",
    "-image",
    "-live",
    "-ocr",
    "-realtime",
    "-search",
    "-transcribe",
    "-tts",
    "dall-e",
    "embed",
    "moderation",
    "rerank",
    "sora-",
    "tts-",
    "veo-",
    "whisper",
];

/// The longest name of a model, in chars.
const LONGEST_NAME: usize = 200;

/// The models of an answer, in its order: `data` for most servers, `models` for Gemini and Ollama.
pub(super) fn models(answer: &Value) -> Vec<&Value> {
    let list = answer.get("data").or_else(|| answer.get("models")).or(Some(answer));
    list.and_then(Value::as_array).into_iter().flatten().take(10_000).collect()
}

/// A model as any of the servers lists it. None for one that is known to make no text.
pub(super) fn listed(model: &Value) -> Option<ModelListing> {
    let name = text(model, &["/id", "/model_name", "/name", "/model"])?;
    // Gemini's own list, and its list in the form of others.
    let name = name.strip_prefix("models/").unwrap_or(name);
    if makes_text(model, name) == Some(false) {
        return None;
    }
    let number = |places: &[&str]| places.iter().find_map(|place| tokens(model.pointer(place)?));
    // Mistral's word for the context that it gives is LM Studio's for the most that a model can use.
    let longest = number(&["/max_context_length"]);
    let is_mistrals = model.pointer("/capabilities/completion_chat").is_some();
    let context = number(&[
        "/loaded_context_length",
        "/context_length",
        "/max_model_len",
        "/context_window",
        "/max_input_tokens",
        "/inputTokenLimit",
        "/model_info/max_input_tokens",
        "/capabilities/limits/max_context_window_tokens",
    ]);
    // OpenRouter: of the model, and of who serves it first.
    let served = number(&["/top_provider/context_length"]);
    Some(ModelListing {
        name: name.chars().take(LONGEST_NAME).collect(),
        context: context.into_iter().chain(served).min().or(longest.filter(|_| is_mistrals)),
        sets_context: false,
        trained: number(&["/meta/n_ctx_train"]).or(longest.filter(|_| !is_mistrals)),
        output: number(&[
            "/max_output_tokens",
            "/max_completion_tokens",
            "/max_tokens",
            "/outputTokenLimit",
            "/top_provider/max_completion_tokens",
            "/model_info/max_output_tokens",
            "/capabilities/limits/max_output_tokens",
        ]),
        images: sees(model),
        ends: text(model, &["/shutdown_date", "/expiration_date", "/deprecation"]).and_then(day),
        instead: text(model, &["/deprecation_replacement_model"]).map(str::to_owned),
    })
}

/// True if a model takes images, false if it does not, where it is told.
fn sees(model: &Value) -> Option<bool> {
    let told = [
        "/capabilities/image_input/supported",
        "/capabilities/vision",
        "/capabilities/supports/vision",
        "/model_info/supports_vision",
        "/supports_image_in",
    ];
    let told = told.iter().find_map(|place| model.pointer(place)?.as_bool());
    let modalities = ["/architecture/input_modalities", "/input_modalities"]
        .iter()
        .find_map(|at| model.pointer(at));
    // LM Studio's word for one that sees.
    let is_vlm = model.get("type").filter(|kind| *kind == "vlm").map(|_| true);
    told.or_else(|| has(modalities?, "image")).or(is_vlm)
}

/// True if a model makes text in a conversation, false if it does not, where it is told or its name tells.
fn makes_text(model: &Value, name: &str) -> Option<bool> {
    if let Some(told) = model.pointer("/capabilities/completion_chat").and_then(Value::as_bool) {
        return Some(told);
    }
    if model.get("active").and_then(Value::as_bool) == Some(false) {
        return Some(false);
    }
    if let Some(made) = model.pointer("/architecture/output_modalities") {
        return has(made, "text");
    }
    if let Some(methods) = model.get("supportedGenerationMethods") {
        let chats = has(methods, "generateContent");
        return chats.filter(|chats| !*chats).or_else(|| by_name(name));
    }
    match text(model, &["/model_info/mode", "/type", "/capabilities/type"]) {
        Some("embedding" | "embeddings" | "image" | "audio" | "moderation" | "rerank") => {
            Some(false)
        }
        _ => by_name(name),
    }
}

fn by_name(name: &str) -> Option<bool> {
    let name = name.to_ascii_lowercase();
    NOT_FOR_TEXT.iter().any(|part| name.contains(part)).then_some(false)
}

fn has(list: &Value, word: &str) -> Option<bool> {
    Some(list.as_array()?.iter().any(|one| one.as_str() == Some(word)))
}

/// The beginning of a time that is a day: `YYYY-MM-DD`.
fn day(time: &str) -> Option<String> {
    let day = time.get(..10)?;
    day_number(day).map(|_| day.to_owned())
}

fn text<'a>(model: &'a Value, places: &[&str]) -> Option<&'a str> {
    places.iter().find_map(|place| model.pointer(place)?.as_str())
}

/// A number of tokens; none for nothing, and for what is none.
pub(super) fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

/// The address of the page behind an answer, at the same server: as OpenRouter, Anthropic and Gemini say it.
pub(super) fn next_page(url: &Url, answer: &Value) -> Option<Url> {
    if let Some(next) = answer.pointer("/links/next").and_then(Value::as_str) {
        return url.join(next).ok().filter(|next| next.origin() == url.origin());
    }
    let is_more = answer.get("has_more").and_then(Value::as_bool) == Some(true);
    let last = answer.get("last_id").filter(|_| is_more).map(|last| ("after_id", last));
    let (name, value) = last.or_else(|| Some(("pageToken", answer.get("nextPageToken")?)))?;
    let value = value.as_str().filter(|value| !value.is_empty())?;
    let mut next = url.clone();
    let others: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(other, _)| other != name)
        .map(|(k, v)| (k.into(), v.into()))
        .collect();
    next.query_pairs_mut().clear().extend_pairs(others).append_pair(name, value);
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The facts of a form in words: name, context, longest reply, images, end, and what comes after it.
    fn told(form: &str) -> String {
        let Some(model) = listed(&serde_json::from_str(form).unwrap()) else {
            return String::new();
        };
        let ModelListing { name, context, trained, output, images, ends, instead, .. } = model;
        let number = |tokens: Option<u32>| tokens.map_or("-".to_owned(), |it| it.to_string());
        let text = |text: Option<String>| text.unwrap_or("-".to_owned());
        let (context, output, trained) = (number(context), number(output), number(trained));
        let images = text(images.map(|sees| sees.to_string()));
        format!("{name} {context} {output} {images} {} {} {trained}", text(ends), text(instead))
    }

    #[test]
    fn each_servers_form_is_read() {
        for (form, facts) in [
            (
                r#"{"id":"claude-sonnet-5-5","max_input_tokens":1000000,"max_tokens":128000,"capabilities":{"image_input":{"supported":true}}}"#,
                "claude-sonnet-5-5 1000000 128000 true - - -",
            ),
            (r#"{"id":"gpt-5","shutdown_date":"2026-12-11"}"#, "gpt-5 - - - 2026-12-11 - -"),
            (r#"{"id":"gpt-6.1-sol","shutdown_date":null}"#, "gpt-6.1-sol - - - - - -"),
            (r#"{"id":"text-embedding-3-large"}"#, ""),
            (
                r#"{"id":"x/m","context_length":1048576,"architecture":{"input_modalities":["text"],"output_modalities":["text"]},"top_provider":{"context_length":262144,"max_completion_tokens":65536},"expiration_date":"2027-01-02T00:00:00Z"}"#,
                "x/m 262144 65536 false 2027-01-02 - -",
            ),
            (r#"{"id":"x/painter","architecture":{"output_modalities":["image"]}}"#, ""),
            (
                r#"{"name":"models/gemini-3.8-flash","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]}"#,
                "gemini-3.8-flash 1048576 65536 - - - -",
            ),
            (r#"{"name":"models/veo-3","supportedGenerationMethods":["predictLongRunning"]}"#, ""),
            (
                r#"{"id":"mistral-large-latest","max_context_length":262144,"capabilities":{"completion_chat":true,"vision":true},"deprecation":"2027-02-27T12:00:00Z","deprecation_replacement_model":"mistral-large-4"}"#,
                "mistral-large-latest 262144 - true 2027-02-27 mistral-large-4 -",
            ),
            (r#"{"id":"mistral-embed-2","capabilities":{"completion_chat":false}}"#, ""),
            (
                r#"{"id":"openai/gpt-oss-120b","context_window":131072,"max_completion_tokens":65536,"active":true}"#,
                "openai/gpt-oss-120b 131072 65536 - - - -",
            ),
            (
                r#"{"id":"kimi-k3","context_length":1048576,"supports_image_in":true}"#,
                "kimi-k3 1048576 - true - - -",
            ),
            (r#"{"id":"whisper-large-v3","context_window":448,"active":true}"#, ""),
            (r#"{"id":"gone","context_window":448,"active":false}"#, ""),
            (r#"{"id":"deepseek-flash","owned_by":"deepseek"}"#, "deepseek-flash - - - - - -"),
            (r#"{"id":"qwen3-coder","max_model_len":32768}"#, "qwen3-coder 32768 - - - - -"),
            (
                r#"{"model_name":"house","litellm_params":{"model":"a/b"},"model_info":{"max_input_tokens":922000,"max_output_tokens":128000,"supports_vision":true,"mode":"chat"}}"#,
                "house 922000 128000 true - - -",
            ),
            (
                r#"{"id":"qwen3-vl","type":"vlm","loaded_context_length":8192,"max_context_length":40960}"#,
                "qwen3-vl 8192 - true - - 40960",
            ),
            // Nonsense is not known.
            (
                r#"{"id":"odd","context_length":"many","max_tokens":-1,"shutdown_date":"soon, 𝄞","supports_image_in":"yes"}"#,
                "odd - - - - - -",
            ),
            (r#"{"id":7}"#, ""),
            (r#""a name""#, ""),
        ] {
            assert_eq!(told(form), facts, "{form}");
        }
    }

    #[test]
    fn the_next_page_is_at_the_same_server() {
        let url: Url = "https://x.test/v1/models?limit=1000".parse().unwrap();
        for (answer, next) in [
            (
                json!({"has_more": true, "last_id": "b&c"}),
                Some("https://x.test/v1/models?limit=1000&after_id=b%26c"),
            ),
            (json!({"has_more": false, "last_id": "b"}), None),
            (
                json!({"nextPageToken": "t"}),
                Some("https://x.test/v1/models?limit=1000&pageToken=t"),
            ),
            (json!({"nextPageToken": ""}), None),
            (
                json!({"links": {"next": "/api/v1/models?offset=500"}}),
                Some("https://x.test/api/v1/models?offset=500"),
            ),
            (json!({"links": {"next": "https://other.test/models"}}), None),
            (json!({"links": {"next": null}}), None),
            (json!([]), None),
        ] {
            let found = next_page(&url, &answer);
            assert_eq!(found.as_ref().map(Url::as_str), next, "{answer}");
        }
    }
}

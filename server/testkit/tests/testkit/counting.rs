//! The scripted model that counts tokens, and replies that are kept for conversations.

use futures::StreamExt;
use ropewalk_model::{
    Block, Http, Message, Model, ModelError, ModelReply, ModelRequest, Protocol, ReplyBuilder,
    Role, ServerModel,
};
use ropewalk_testkit::model::{CountedContext, Overflow, ScriptedModel, ScriptedReply};

async fn ask(model: &ServerModel, messages: &[Message]) -> Result<ModelReply, ModelError> {
    let request = ModelRequest {
        prelude: model.encode_prelude("be brief", &[]),
        pieces: messages.iter().map(|message| model.encode(message)).collect(),
        max_tokens: 800,
    };
    let (mut stream, mut builder) = (model.stream(request), ReplyBuilder::new());
    while let Some(delta) = stream.next().await {
        builder.push(&delta?);
    }
    Ok(builder.finish())
}

fn start(protocol: Protocol, overflow: Overflow) -> (ScriptedModel, ServerModel) {
    let replies = ["one", "two"].map(|text| ScriptedReply::new().text(text).conversation(text));
    let context = CountedContext { tokens: 1_000, overflow };
    let server = ScriptedModel::start_counting(protocol, replies, context).unwrap();
    let model = ServerModel::new(server.config(), Http::new()).unwrap();
    (server, model)
}

#[tokio::test]
async fn what_is_over_the_context_is_refused_in_the_words_of_each_protocol() {
    for protocol in Protocol::ALL {
        let (server, model) = start(*protocol, Overflow::Refuse);
        let short = Message::user("a word");
        let long = Message::user("a word ".repeat(1_000));
        let reply = ask(&model, std::slice::from_ref(&short)).await.unwrap();
        let first = reply.usage;
        assert!(first.prompt() > 5 && first.prompt() < 60 && first.cache_read == 0, "{first:?}");
        let error = ask(&model, &[long]).await.unwrap_err();
        assert!(matches!(error, ModelError::ContextLength { .. }), "{protocol:?} {error}");
        // It took no reply, and what repeats the first request counts as cached.
        let said = Message { role: Role::Assistant, content: vec![Block::text("one")] };
        let reply = ask(&model, &[short, said, Message::user("more")]).await.unwrap();
        assert_eq!(reply.blocks, [Block::text("two")]);
        assert!(reply.usage.cache_read >= first.prompt() - 2, "{:?}", reply.usage);
        let over: Vec<bool> = server.counted().iter().map(|request| request.is_over).collect();
        assert_eq!(over, [false, true, false]);
        server.finish().unwrap();
    }
}

#[tokio::test]
async fn a_front_is_cut_without_a_word_and_the_usage_says_what_was_read() {
    for protocol in Protocol::ALL {
        let (server, model) = start(*protocol, Overflow::CutFront);
        let reply = ask(&model, &[Message::user("a word ".repeat(1_000))]).await.unwrap();
        assert_eq!(reply.usage.prompt(), 1_000);
        assert!(server.counted()[0].is_over);
        ask(&model, &[Message::user("a word")]).await.unwrap();
        server.finish().unwrap();
    }
}

#[tokio::test]
async fn replies_are_kept_for_the_conversations_that_begin_so() {
    let of =
        |text: &str, reply: &str| ScriptedReply::new().text(reply).when(text).conversation(text);
    let replies =
        [of("auth", "a1"), of("logs", "l1"), ScriptedReply::new().text("main"), of("auth", "a2")];
    let server = ScriptedModel::start(replies).unwrap();
    let model = ServerModel::new(server.config(), Http::new()).unwrap();
    let asked = ["Find auth", "Look", "Read the logs"].map(Message::user);
    let replies = futures::future::join_all(
        asked.iter().map(|message| ask(&model, std::slice::from_ref(message))),
    );
    let texts: Vec<String> = replies
        .await
        .into_iter()
        .map(|reply| reply.unwrap().blocks[0].as_text().unwrap().to_owned())
        .collect();
    assert_eq!(texts, ["a1", "main", "l1"]);
    let said = Message { role: Role::Assistant, content: vec![Block::text("a1")] };
    let again = [asked[0].clone(), said, Message::user("and?")];
    assert_eq!(ask(&model, &again).await.unwrap().blocks, [Block::text("a2")]);
    server.finish().unwrap();
}

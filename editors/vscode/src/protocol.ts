// The types of what server and plugin say to each other, written by generate.mjs from editors/protocol.json.

/**
 * An event as front ends get it.
 */
export type SessionEvent = {
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
} & SessionEvent1;
export type SessionEvent1 =
    | {
          type: 'session_started';
          /**
           * Its name; empty while it has none.
           */
          title: string;
          /**
           * How many turns it has had.
           */
          turns: number;
      }
    | {
          type: 'session_renamed';
          /**
           * The name.
           */
          title: string;
      }
    | {
          type: 'rewound';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The words it had begun with, for the user to say it another way.
           */
          prompt: string;
      }
    | {
          type: 'turn_started';
          /**
           * Its number in the session, from one.
           */
          turn: number;
          /**
           * The user's words.
           */
          prompt: string;
      }
    | {
          type: 'queued';
          /**
           * The turn it will be.
           */
          turn: number;
          /**
           * The user's words.
           */
          prompt: string;
      }
    | {
          type: 'step_started';
          /**
           * The turn.
           */
          turn: number;
          /**
           * Its number in the turn, from one.
           */
          step: number;
          /**
           * The id of the message that the model answers with.
           */
          message: string;
      }
    | {
          type: 'steered';
          /**
           * The turn.
           */
          turn: number;
          /**
           * Their words.
           */
          text: string;
      }
    | {
          type: 'text_delta';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The id of its message.
           */
          message: string;
          /**
           * A piece of its words.
           */
          text: string;
      }
    | {
          type: 'thinking_delta';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The id of its message.
           */
          message: string;
          /**
           * A piece of its thoughts.
           */
          text: string;
      }
    | {
          type: 'retrying';
          /**
           * The turn.
           */
          turn: number;
          /**
           * Which try comes next, from two.
           */
          attempt: number;
          /**
           * How long it waits first, in milliseconds.
           */
          waitMs: number;
          /**
           * Why.
           */
          reason: string;
      }
    | {
          type: 'waiting';
          /**
           * The turn.
           */
          turn: number;
          /**
           * How long it has been, in milliseconds.
           */
          waitedMs: number;
          /**
           * True if other requests of ours are before this one, so that it was not sent yet.
           */
          isQueued: boolean;
      }
    | {
          type: 'tool_call';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The call's id.
           */
          call: string;
          /**
           * The tool.
           */
          tool: string;
          /**
           * The subject of the call, short.
           */
          title: string;
          /**
           * Its input.
           */
          input: {
              [k: string]: unknown;
          };
      }
    | {
          type: 'tool_output';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The call's id.
           */
          call: string;
          /**
           * A piece of its output.
           */
          text: string;
      }
    | {
          type: 'check';
          /**
           * The turn.
           */
          turn: number;
          /**
           * Its number in the turn, from one.
           */
          round: number;
          /**
           * How many todos are open that the turn has changed.
           */
          todos: number;
          /**
           * New errors in the editor, one a line, in files that the turn has changed there.
           */
          errors: string[];
          /**
           * The end of what `verify` printed, if it failed; else null.
           */
          verify: string | null;
          /**
           * True if nothing was found.
           */
          passed: boolean;
      }
    | {
          type: 'tool_result';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The call's id.
           */
          call: string;
          /**
           * True if it failed.
           */
          isError: boolean;
          /**
           * The start of the result.
           */
          preview: string;
          /**
           * The name in the call that may hold secrets, if it ran: what it gave may hold them too.
           */
          secret: string | null;
      }
    | {
          type: 'approval_requested';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The approval's id.
           */
          approval: number;
          /**
           * The call's id.
           */
          call: string;
          /**
           * The subagent that asks, by its type and its task, as in `explore, find auth files`. Null where the session's own call
           * waits.
           */
          agent: string | null;
          /**
           * The tool.
           */
          tool: string;
          /**
           * The whole command, or what the call is about. What would drive a terminal or turn writing
           * around in it, as in the other words here, is a picture or `�`.
           */
          detail: string;
          /**
           * Why the user is asked.
           */
          reason: string;
          /**
           * The rule that "for this session" and "always" would add, with what it gives a command in the sandbox behind it
           * (`with network, /srv/data`, or `with nothing`). Null where no rule can stand for the call.
           */
          rule: string | null;
          /**
           * The calls that the rule lets run, in words on one line, to be shown before it is taken. Null where there is no rule.
           */
          ruleWords: string | null;
          /**
           * True if the rule can be kept for always.
           */
          always: boolean;
          /**
           * Files whose unsaved or unpublished text the call won't see, where commands run in place.
           */
          unseen: string[];
      }
    | {
          type: 'approval_resolved';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The approval's id.
           */
          approval: number;
          /**
           * How it ended.
           */
          how: 'allowed' | 'refused' | 'waiting for save' | 'interrupted';
      }
    | {
          type: 'hunks';
          /**
           * In the order of files and lines.
           */
          hunks: HunkInfo[];
      }
    | {
          type: 'reviewed';
          /**
           * The kind of review that was asked for.
           */
          action: 'accept' | 'reject' | 'edit' | 'undo' | 'rewind';
          /**
           * How many hunks it was done for.
           */
          done: number;
          /**
           * Failures, in words.
           */
          failed: string[];
      }
    | {
          type: 'todos';
          /**
           * The turn that has changed them, or the last one.
           */
          turn: number;
          /**
           * All of them, each with `content` and `status`: `pending`, `in_progress` or `completed`.
           */
          todos: Todo[];
          /**
           * How many are completed.
           */
          done: number;
      }
    | {
          type: 'usage';
          /**
           * The turn.
           */
          turn: number;
          step: Tokens;
          inTurn: Tokens1;
          total: Tokens2;
      }
    | {
          type: 'compacting';
          /**
           * The turn, or the last one if none runs.
           */
          turn: number;
          /**
           * Why.
           */
          why: 'full' | 'asked' | 'refused';
      }
    | {
          type: 'compacted';
          /**
           * The turn.
           */
          turn: number;
          /**
           * Tokens of a request before, by estimate.
           */
          before: number;
          /**
           * Tokens of one afterwards.
           */
          after: number;
          /**
           * The model that has summed up, or `ropewalk` where it is a list of the calls.
           */
          by: string;
      }
    | {
          type: 'thread';
          /**
           * The turn.
           */
          turn: number;
          /**
           * The id of the call that has started it.
           */
          call: string;
          /**
           * Its type, such as `explore`.
           */
          agent: string;
          /**
           * Its task in a few words.
           */
          description: string;
          /**
           * How far it is: `started` or `ended`.
           */
          state: 'started' | 'ended';
          /**
           * The steps it took.
           */
          steps: number;
          usage: Tokens3;
          /**
           * The files in which its changes have come back.
           */
          changed: string[];
          /**
           * The files in which some of them had lost their place.
           */
          conflicts: string[];
      }
    | {
          type: 'notice';
          /**
           * How important it is.
           */
          level: 'info' | 'warning' | 'error';
          /**
           * One sentence.
           */
          message: string;
      }
    | {
          type: 'mode_changed';
          /**
           * The mode now.
           */
          mode: 'auto' | 'review' | 'plan';
      }
    | {
          type: 'model_changed';
          /**
           * Its name.
           */
          model: string;
      }
    | {
          type: 'turn_ended';
          /**
           * The turn.
           */
          turn: number;
          /**
           * Why.
           */
          stopReason: 'end_turn' | 'max_tokens' | 'max_steps' | 'budget' | 'refusal' | 'interrupted' | 'error';
          /**
           * Words about the end, unless it ended well.
           */
          message: string | null;
      }
    | {
          type: 'trust_requested';
          /**
           * The folder, links resolved.
           */
          root: string;
          /**
           * The URI of the file that asks.
           */
          file: string;
          /**
           * The things it asks for, in words, one line each.
           */
          enables: string[];
          /**
           * Of exactly that: an answer that names it is to nothing else.
           */
          hash: string;
          /**
           * The question in words.
           */
          question: string;
      };
/**
 * The outcome of an approval.
 */
export type Resolution = 'allowed' | 'refused' | 'waiting for save' | 'interrupted';
/**
 * Kinds of changes.
 */
export type ChangeKind = 'text' | 'create' | 'delete' | 'rename' | 'binary' | 'mode' | 'link';
/**
 * A decision of the user about changes.
 */
export type ReviewAction = 'accept' | 'reject' | 'edit' | 'undo' | 'rewind';
/**
 * How far a todo is.
 */
export type TodoStatus = 'pending' | 'in_progress' | 'completed';
/**
 * Why a conversation is compacted.
 */
export type CompactionCause = 'full' | 'asked' | 'refused';
/**
 * How far a subagent is.
 */
export type ThreadState = 'started' | 'ended';
/**
 * How important a notice is.
 */
export type Level = 'info' | 'warning' | 'error';
/**
 * When changes reach the editor, and so what a call may do. Ordered by strictness: `Auto < Review < Plan`.
 */
export type Mode = 'auto' | 'review' | 'plan';
/**
 * Why a turn ended.
 */
export type StopReason = 'end_turn' | 'max_tokens' | 'max_steps' | 'budget' | 'refusal' | 'interrupted' | 'error';
/**
 * An answer to a [`Request`](crate::Request) that was taken.
 */
export type Reply =
    | 'taken'
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          turn: [unknown, unknown];
      }
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          rewinding: [unknown, unknown];
      }
    | {
          status: Status;
      }
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          begun: [unknown, unknown];
      }
    | {
          resumed: ResumedSession;
      }
    | {
          closed: LeftSession | null;
      }
    | {
          sessions: SessionInfo[];
      }
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          renamed: [unknown, unknown];
      }
    | {
          deleted: SessionInfo;
      }
    | {
          file: string;
      }
    | {
          answered: string;
      }
    | {
          forgotten: number;
      };
export type ResultOfStringOrString =
    | {
          Ok: string;
      }
    | {
          Err: string;
      };
/**
 * A part of a prompt or of a result.
 */
export type Content =
    | {
          type: 'text';
          /**
           * The text.
           */
          text: string;
      }
    | {
          type: 'image';
          /**
           * Its MIME type, such as `image/png`.
           */
          mime: string;
          /**
           * Its bytes in base64, without line ends.
           */
          data: string;
      }
    | {
          type: 'resource';
          /**
           * The URI.
           */
          uri: string;
          /**
           * Its MIME type, where that is known.
           */
          mime?: string | null;
          /**
           * The text.
           */
          text: string;
      }
    | {
          type: 'link';
          /**
           * The URI.
           */
          uri: string;
          /**
           * The name to show for it.
           */
          name: string;
      };
/**
 * Hunks that are meant.
 */
export type Selection =
    | {
          hunks: number[];
      }
    | {
          file: string;
      }
    | {
          turn: number;
      }
    | 'all';
/**
 * A request of the user to a session, or about sessions.
 */
export type Op =
    | {
          prompt: Prompt;
      }
    | {
          steer: Content[];
      }
    | {
          interrupt: string | null;
      }
    | {
          accept: Selection;
      }
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          reject: [unknown, unknown];
      }
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          edit: [unknown, unknown];
      }
    | {
          undo: Selection;
      }
    | {
          rewind: number;
      }
    | {
          compact: string | null;
      }
    | {
          rename: string;
      }
    | {
          /**
           * @minItems 2
           * @maxItems 2
           */
          approve: [unknown, unknown];
      }
    | {
          mode: Mode;
      }
    | {
          set_model: string;
      }
    | 'status'
    | {
          new: {
              /**
               * True if the current session stays what it is.
               */
              beside: boolean;
          };
      }
    | {
          resume: {
              /**
               * True if the current session stays what it is.
               */
              beside: boolean;
          };
      }
    | 'close'
    | {
          sessions: {
              /**
               * True for those of all folders.
               */
              all: boolean;
          };
      }
    | {
          delete: {
              /**
               * True if it is deleted also if changes wait in it.
               */
              force: boolean;
          };
      }
    | {
          export: string | null;
      }
    | 'rules'
    | {
          trust: TrustAnswer;
      };
/**
 * The user's word on a call.
 */
export type Verdict =
    | 'once'
    | 'session'
    | 'always'
    | 'afterSave'
    | {
          refuse: string | null;
      };
/**
 * Trust in what a folder's configuration asks for.
 */
export type Trust = 'trust' | 'never' | 'forget';

/**
 * Holds one of each type, so that all are written.
 */
export interface Everything {
    SessionEvent?: SessionEvent;
    Resolution?: Resolution;
    HunkInfo?: HunkInfo;
    ChangeKind?: ChangeKind;
    ReviewAction?: ReviewAction;
    Todo?: Todo;
    TodoStatus?: TodoStatus;
    Tokens?: Tokens4;
    CompactionCause?: CompactionCause;
    ThreadState?: ThreadState;
    Level?: Level;
    Mode?: Mode;
    StopReason?: StopReason;
    Reply?: Reply;
    Status?: Status;
    Lock?: Lock;
    Result_of_string_or_string?: ResultOfStringOrString;
    ContextFill?: ContextFill1;
    LeftSession?: LeftSession;
    ResumedSession?: ResumedSession;
    SessionInfo?: SessionInfo;
    Refusal?: Refusal;
    Request?: Request;
    Op?: Op;
    Prompt?: Prompt;
    Content?: Content;
    SelectedText?: SelectedText;
    Selection?: Selection;
    Verdict?: Verdict;
    TrustAnswer?: TrustAnswer;
    Trust?: Trust;
}
/**
 * A pending hunk.
 */
export interface HunkInfo {
    /**
     * Its id, unique in its session.
     */
    id: number;
    /**
     * The document's URI.
     */
    uri: string;
    /**
     * The path as it is shown.
     */
    file: string;
    /**
     * The kind of change: of all but `text` and `create`, `diff` says in words what changes.
     */
    kind: 'text' | 'create' | 'delete' | 'rename' | 'binary' | 'mode' | 'link';
    /**
     * The first line it replaces in the user's text, from zero.
     */
    line: number;
    /**
     * How many lines it replaces.
     */
    lines: number;
    /**
     * The lines as they are.
     */
    old: string;
    /**
     * The lines as they would be.
     */
    new: string;
    /**
     * A unified diff with the lines around it.
     */
    diff: string;
    /**
     * The turn it was made in.
     */
    turn: number;
    /**
     * The ids of the tool calls that it came of, in order.
     *
     * Items: Id of a tool call, unique in its session.
     */
    calls: string[];
    /**
     * The first line of each command among them, in order.
     */
    commands: string[];
    /**
     * True if it is on its way to the editor.
     */
    sent: boolean;
    /**
     * The program or agent that runs or follows the file, in words: it waits for the user in mode `auto` too. Absent where none does.
     */
    review?: string | null;
}
/**
 * One step of a task.
 */
export interface Todo {
    /**
     * The step, in one line.
     */
    content: string;
    /**
     * How far it is.
     */
    status: 'pending' | 'in_progress' | 'completed';
}
/**
 * By the last step.
 */
export interface Tokens {
    /**
     * Read anew.
     */
    input: number;
    /**
     * Written by the model.
     */
    output: number;
    /**
     * Read from the provider's cache.
     */
    cacheRead: number;
    /**
     * Put into the provider's cache.
     */
    cacheWrite: number;
    /**
     * How much of what was read came from the cache, in percent. Null where there is no cache.
     */
    cacheHitPercent: number | null;
    /**
     * In US dollars, without the unpriced. Null if nothing is known to have a price.
     */
    cost: number | null;
    /**
     * How many of these tokens have no known price.
     */
    unpriced: number;
}
/**
 * By the turn so far.
 */
export interface Tokens1 {
    /**
     * Read anew.
     */
    input: number;
    /**
     * Written by the model.
     */
    output: number;
    /**
     * Read from the provider's cache.
     */
    cacheRead: number;
    /**
     * Put into the provider's cache.
     */
    cacheWrite: number;
    /**
     * How much of what was read came from the cache, in percent. Null where there is no cache.
     */
    cacheHitPercent: number | null;
    /**
     * In US dollars, without the unpriced. Null if nothing is known to have a price.
     */
    cost: number | null;
    /**
     * How many of these tokens have no known price.
     */
    unpriced: number;
}
/**
 * By the session so far. (Not called `session`: its id stands beside these fields.)
 */
export interface Tokens2 {
    /**
     * Read anew.
     */
    input: number;
    /**
     * Written by the model.
     */
    output: number;
    /**
     * Read from the provider's cache.
     */
    cacheRead: number;
    /**
     * Put into the provider's cache.
     */
    cacheWrite: number;
    /**
     * How much of what was read came from the cache, in percent. Null where there is no cache.
     */
    cacheHitPercent: number | null;
    /**
     * In US dollars, without the unpriced. Null if nothing is known to have a price.
     */
    cost: number | null;
    /**
     * How many of these tokens have no known price.
     */
    unpriced: number;
}
/**
 * Tokens that it used.
 */
export interface Tokens3 {
    /**
     * Read anew.
     */
    input: number;
    /**
     * Written by the model.
     */
    output: number;
    /**
     * Read from the provider's cache.
     */
    cacheRead: number;
    /**
     * Put into the provider's cache.
     */
    cacheWrite: number;
    /**
     * How much of what was read came from the cache, in percent. Null where there is no cache.
     */
    cacheHitPercent: number | null;
    /**
     * In US dollars, without the unpriced. Null if nothing is known to have a price.
     */
    cost: number | null;
    /**
     * How many of these tokens have no known price.
     */
    unpriced: number;
}
/**
 * Counts of tokens and their price, as programs read them.
 */
export interface Tokens4 {
    /**
     * Read anew.
     */
    input: number;
    /**
     * Written by the model.
     */
    output: number;
    /**
     * Read from the provider's cache.
     */
    cacheRead: number;
    /**
     * Put into the provider's cache.
     */
    cacheWrite: number;
    /**
     * How much of what was read came from the cache, in percent. Null where there is no cache.
     */
    cacheHitPercent: number | null;
    /**
     * In US dollars, without the unpriced. Null if nothing is known to have a price.
     */
    cost: number | null;
    /**
     * How many of these tokens have no known price.
     */
    unpriced: number;
}
/**
 * A session as it stands.
 */
export interface Status {
    /**
     * Its id.
     */
    session: string;
    /**
     * Its name; empty while it has none.
     */
    title: string;
    /**
     * How many turns it has had.
     */
    turns: number;
    /**
     * Keys that the configuration locks.
     */
    locks: Lock[];
    /**
     * When changes reach the editor, and so what a call may do. Ordered by strictness: `Auto < Review < Plan`.
     */
    mode: 'auto' | 'review' | 'plan';
    /**
     * Its model, or what to set up.
     */
    model:
        | {
              Ok: string;
          }
        | {
              Err: string;
          };
    /**
     * How many hunks are pending.
     */
    hunks: number;
    /**
     * Ids of the approvals that wait, the oldest first.
     */
    approvals: number[];
    /**
     * How many todos there are.
     */
    todos: number;
    /**
     * How many of them are completed.
     */
    todosDone: number;
    /**
     * How many messages were said.
     */
    messages: number;
    tokens: Tokens5;
    context: ContextFill;
    /**
     * How often a document was found to be out of step.
     */
    desyncAlarms: number;
}
/**
 * A key of the configuration that can't be changed here.
 */
export interface Lock {
    /**
     * The key.
     */
    key: string;
    /**
     * The place that locks it.
     */
    by: string;
}
/**
 * Counts of tokens and their price, as programs read them.
 */
export interface Tokens5 {
    /**
     * Read anew.
     */
    input: number;
    /**
     * Written by the model.
     */
    output: number;
    /**
     * Read from the provider's cache.
     */
    cacheRead: number;
    /**
     * Put into the provider's cache.
     */
    cacheWrite: number;
    /**
     * How much of what was read came from the cache, in percent. Null where there is no cache.
     */
    cacheHitPercent: number | null;
    /**
     * In US dollars, without the unpriced. Null if nothing is known to have a price.
     */
    cost: number | null;
    /**
     * How many of these tokens have no known price.
     */
    unpriced: number;
}
/**
 * How full the model's context is.
 */
export interface ContextFill {
    /**
     * Taken by all of it; 0 before the first request.
     */
    used: number;
    /**
     * Taken by the system prompt and the tools.
     */
    prelude: number;
    /**
     * The model's context; 0 where it is not known.
     */
    context: number;
}
/**
 * A session that goes on.
 */
export interface ResumedSession {
    /**
     * Its id.
     */
    session: string;
    /**
     * Its name; empty while it has none.
     */
    title: string;
    /**
     * When something last happened in it, in milliseconds since 1970.
     */
    at: number;
    /**
     * How many turns it has had.
     */
    turns: number;
    /**
     * How many changes wait for review.
     */
    pending: number;
    /**
     * Changes that could not be brought back, in words.
     */
    lost: string[];
    /**
     * Words of the user that were not taken up before it ended.
     */
    waiting: string[];
    /**
     * Faults of its journal, in words.
     */
    problems: string[];
    /**
     * The session that was left for it.
     */
    left: LeftSession | null;
}
/**
 * A session that was left.
 */
export interface LeftSession {
    /**
     * Its name; empty while it has none.
     */
    title: string;
    /**
     * How many changes stay in it.
     */
    pending: number;
}
/**
 * A session that is kept.
 */
export interface SessionInfo {
    /**
     * Its id.
     */
    session: string;
    /**
     * Its name; empty while it has none.
     */
    title: string;
    /**
     * When it began, in milliseconds since 1970.
     */
    began: number;
    /**
     * When something last happened in it, likewise.
     */
    at: number;
    /**
     * The folders it works in.
     */
    roots: string[];
    /**
     * How many turns it has.
     */
    turns: number;
    /**
     * How many changes wait for review.
     */
    pending: number;
    /**
     * How many accepted changes were never saved: if the editor died, they wait again.
     */
    unsaved: number;
    /**
     * The size of its journal, in bytes.
     */
    bytes: number;
    /**
     * True if another process has it.
     */
    inUse: boolean;
    /**
     * True if it is the current one.
     */
    current: boolean;
}
/**
 * How full a model's context is by the last request, in tokens, by estimate.
 */
export interface ContextFill1 {
    /**
     * Taken by all of it; 0 before the first request.
     */
    used: number;
    /**
     * Taken by the system prompt and the tools.
     */
    prelude: number;
    /**
     * The model's context; 0 where it is not known.
     */
    context: number;
}
/**
 * A request that can't be done.
 */
export interface Refusal {
    /**
     * Why, in a sentence without its full stop.
     */
    words: string;
    /**
     * True if another process has the session.
     */
    in_use: boolean;
}
/**
 * A request as a host takes it.
 */
export interface Request {
    /**
     * The session it is for; none means the current one. `resume`, `rename`, `delete` and `export` take its number in the
     * last list too, or the start of its id.
     */
    session?: string | null;
    /**
     * The request itself.
     */
    op:
        | {
              prompt: Prompt;
          }
        | {
              steer: Content[];
          }
        | {
              interrupt: string | null;
          }
        | {
              accept: Selection;
          }
        | {
              /**
               * @minItems 2
               * @maxItems 2
               */
              reject: [unknown, unknown];
          }
        | {
              /**
               * @minItems 2
               * @maxItems 2
               */
              edit: [unknown, unknown];
          }
        | {
              undo: Selection;
          }
        | {
              rewind: number;
          }
        | {
              compact: string | null;
          }
        | {
              rename: string;
          }
        | {
              /**
               * @minItems 2
               * @maxItems 2
               */
              approve: [unknown, unknown];
          }
        | {
              mode: Mode;
          }
        | {
              set_model: string;
          }
        | 'status'
        | {
              new: {
                  /**
                   * True if the current session stays what it is.
                   */
                  beside: boolean;
              };
          }
        | {
              resume: {
                  /**
                   * True if the current session stays what it is.
                   */
                  beside: boolean;
              };
          }
        | 'close'
        | {
              sessions: {
                  /**
                   * True for those of all folders.
                   */
                  all: boolean;
              };
          }
        | {
              delete: {
                  /**
                   * True if it is deleted also if changes wait in it.
                   */
                  force: boolean;
              };
          }
        | {
              export: string | null;
          }
        | 'rules'
        | {
              trust: TrustAnswer;
          };
}
/**
 * A request of the user, with what they were looking at when they made it.
 */
export interface Prompt {
    /**
     * Their words, and what they show.
     */
    content: Content[];
    /**
     * The text they had selected.
     */
    selection?: SelectedText | null;
}
/**
 * A selected text, taken at the moment of the request.
 */
export interface SelectedText {
    /**
     * The file as it is shown.
     */
    file: string;
    /**
     * Its language, as the editor names it.
     */
    language: string;
    /**
     * The first and last line, counted from one.
     *
     * @minItems 2
     * @maxItems 2
     */
    lines: [unknown, unknown];
    /**
     * The text.
     */
    text: string;
}
/**
 * An answer to the question if a folder's configuration is trusted.
 */
export interface TrustAnswer {
    /**
     * The folder, as a path or a URI; none means the only one that asks, or for `forget` all that are open.
     */
    root?: string | null;
    /**
     * Hash of what was asked: the answer is refused if something else is asked by now.
     */
    hash?: string | null;
    /**
     * The answer.
     */
    answer: 'trust' | 'never' | 'forget';
}

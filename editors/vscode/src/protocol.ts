// The types of what server and plugin say to each other, written by generate.mjs from editors/protocol.json.

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
 * Ids of hunks.
 */
export type HunkIds = number | number[];
/**
 * An answer to an approval.
 */
export type ApprovalAnswer = 'once' | 'session' | 'always' | 'afterSave' | 'refuse';
/**
 * When changes reach the editor, and so what a call may do. Ordered by strictness: `Auto < Review < Plan`.
 */
export type Mode = 'auto' | 'review' | 'plan';
/**
 * Trust in what a folder's configuration asks for.
 */
export type Trust = 'trust' | 'never' | 'forget';
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
          unqueue: number;
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
      }
    | {
          tasks: {
              /**
               * The page, from one, which it is without it.
               */
              page?: number | null;
          };
      }
    | {
          team: TeamOp;
      }
    | 'inbox';
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
 * A request of the user about a team.
 */
export type TeamOp =
    | 'show'
    | {
          stop: string;
      }
    | {
          plan: {
              /**
               * The number of the request.
               */
              request: number;
              /**
               * True if the teammate may go on as planned.
               */
              approve: boolean;
              /**
               * Words for the teammate.
               */
              words?: string | null;
          };
      }
    | {
          adopt: string;
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
 * Where a command runs.
 */
export type CommandPlace = 'fork' | 'copy' | 'place';
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
 * State of a member.
 */
export type TeamState = 'working' | 'idle' | 'shutdown' | 'gone';
/**
 * Status of a board task.
 */
export type BoardTaskStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled';
/**
 * How important a notice is.
 */
export type Level = 'info' | 'warning' | 'error';
/**
 * Why a turn ended.
 */
export type StopReason = 'end_turn' | 'max_tokens' | 'max_steps' | 'budget' | 'refusal' | 'interrupted' | 'error';
/**
 * An event, told apart by its `type`.
 */
export type SessionEvent =
    | SessionStartedEvent
    | SessionRenamedEvent
    | RewoundEvent
    | TurnStartedEvent
    | QueuedEvent
    | StepStartedEvent
    | SteeredEvent
    | TextDeltaEvent
    | ThinkingDeltaEvent
    | RetryingEvent
    | WaitingEvent
    | ToolCallEvent
    | ToolOutputEvent
    | CheckEvent
    | ToolResultEvent
    | ApprovalRequestedEvent
    | ApprovalResolvedEvent
    | HunksEvent
    | PublishedEvent
    | SetAsideEvent
    | ReviewedEvent
    | TodosEvent
    | UsageEvent
    | CompactingEvent
    | CompactedEvent
    | ThreadEvent
    | TeamEvent
    | BoardTaskEvent
    | NoticeEvent
    | ModeChangedEvent
    | ModelChangedEvent
    | TurnEndedEvent
    | TrustRequestedEvent;
/**
 * Kinds of completions.
 */
export type CompletionKind = 'file' | 'command' | 'prompt' | 'skill';
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
          unqueued: string;
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
      }
    | {
          tasks: {
              /**
               * The tasks.
               */
              tasks: BoardTask[];
              /**
               * True if there is another page.
               */
              more: boolean;
          };
      }
    | {
          team: TeamRoster;
      }
    | {
          inbox: TeamMessage[];
      };

/**
 * Holds one of each type, so that all are written.
 */
export interface Everything {
    ClientOptions?: ClientOptions;
    PromptArgument?: PromptArgument;
    Content?: Content;
    DocumentVersion?: DocumentVersion;
    TextRange?: TextRange;
    TextPosition?: TextPosition;
    SendArgument?: SendArgument;
    SteerArgument?: SteerArgument;
    UnqueueArgument?: UnqueueArgument;
    InterruptArgument?: InterruptArgument;
    HunkChoice?: HunkChoice;
    HunkIds?: HunkIds;
    EditArgument?: EditArgument;
    HunkArgument?: HunkArgument;
    NextArgument?: NextArgument;
    ApprovalArgument?: ApprovalArgument;
    ApprovalAnswer?: ApprovalAnswer;
    NoArgument?: NoArgument;
    ModeArgument?: ModeArgument;
    Mode?: Mode;
    ModelArgument?: ModelArgument;
    StatusArgument?: StatusArgument;
    SessionsArgument?: SessionsArgument;
    ResumeArgument?: ResumeArgument;
    RewindArgument?: RewindArgument;
    CompactArgument?: CompactArgument;
    RenameArgument?: RenameArgument;
    DeleteArgument?: DeleteArgument;
    ExportArgument?: ExportArgument;
    TasksArgument?: TasksArgument;
    TeamArgument?: TeamArgument;
    PlanAnswer?: PlanAnswer;
    TrustArgument?: TrustArgument;
    Trust?: Trust;
    DocumentName?: DocumentName;
    HistoryRequest?: HistoryRequest;
    ResultRequest?: ResultRequest;
    CompletionRequest?: CompletionRequest;
    DiagnosticLine?: DiagnosticLine;
    SymbolPlace?: SymbolPlace;
    DocumentPlace?: DocumentPlace;
    Request?: Request;
    Op?: Op;
    Prompt?: Prompt;
    SelectedText?: SelectedText;
    Selection?: Selection;
    Verdict?: Verdict;
    TrustAnswer?: TrustAnswer;
    TeamOp?: TeamOp;
    Refusal?: Refusal;
    CommandPlace?: CommandPlace;
    Resolution?: Resolution;
    HunkInfo?: HunkInfo;
    ChangeKind?: ChangeKind;
    HunkMember?: HunkMember;
    PublishedHunk?: PublishedHunk;
    ReviewAction?: ReviewAction;
    Todo?: Todo;
    TodoStatus?: TodoStatus;
    Tokens?: Tokens;
    ContextUse?: ContextUse;
    CompactionCause?: CompactionCause;
    ThreadState?: ThreadState;
    TeamMember?: TeamMember;
    TeamState?: TeamState;
    BoardTaskStatus?: BoardTaskStatus;
    BoardTask?: BoardTask;
    Level?: Level;
    StopReason?: StopReason;
    PromptTurn?: PromptTurn;
    UnqueuedPrompt?: UnqueuedPrompt;
    HunkDiff?: HunkDiff;
    NextHunk?: NextHunk;
    CommandFile?: CommandFile;
    SessionMode?: SessionMode;
    CommandModel?: CommandModel;
    ModelInfo?: ModelInfo;
    ModelPrice?: ModelPrice;
    Status?: Status;
    Lock?: Lock;
    ContextFill?: ContextFill;
    CommandSession?: CommandSession;
    SessionInfo?: SessionInfo;
    SessionSummary?: SessionSummary;
    RewoundTurn?: RewoundTurn;
    SessionName?: SessionName;
    DeletedSession?: DeletedSession;
    TaskPage?: TaskPage;
    TeamRoster?: TeamRoster;
    TeamMessage?: TeamMessage;
    TrustOutcome?: TrustOutcome;
    HunkTexts?: HunkTexts;
    ProposedDocument?: ProposedDocument;
    SessionHistory?: SessionHistory;
    HistoryTurn?: HistoryTurn;
    CallResult?: CallResult;
    Completions?: Completions;
    Completion?: Completion;
    CompletionKind?: CompletionKind;
    DiagnosticsRequest?: DiagnosticsRequest;
    SymbolsRequest?: SymbolsRequest;
    PlaceRequest?: PlaceRequest;
    Reply?: Reply;
    LeftSession?: LeftSession;
    ResumedSession?: ResumedSession;
    SessionStartedEvent?: SessionStartedEvent;
    SessionRenamedEvent?: SessionRenamedEvent;
    RewoundEvent?: RewoundEvent;
    TurnStartedEvent?: TurnStartedEvent;
    QueuedEvent?: QueuedEvent;
    StepStartedEvent?: StepStartedEvent;
    SteeredEvent?: SteeredEvent;
    TextDeltaEvent?: TextDeltaEvent;
    ThinkingDeltaEvent?: ThinkingDeltaEvent;
    RetryingEvent?: RetryingEvent;
    WaitingEvent?: WaitingEvent;
    ToolCallEvent?: ToolCallEvent;
    ToolOutputEvent?: ToolOutputEvent;
    CheckEvent?: CheckEvent;
    ToolResultEvent?: ToolResultEvent;
    ApprovalRequestedEvent?: ApprovalRequestedEvent;
    ApprovalResolvedEvent?: ApprovalResolvedEvent;
    HunksEvent?: HunksEvent;
    PublishedEvent?: PublishedEvent;
    SetAsideEvent?: SetAsideEvent;
    ReviewedEvent?: ReviewedEvent;
    TodosEvent?: TodosEvent;
    UsageEvent?: UsageEvent;
    CompactingEvent?: CompactingEvent;
    CompactedEvent?: CompactedEvent;
    ThreadEvent?: ThreadEvent;
    TeamEvent?: TeamEvent;
    BoardTaskEvent?: BoardTaskEvent;
    NoticeEvent?: NoticeEvent;
    ModeChangedEvent?: ModeChangedEvent;
    ModelChangedEvent?: ModelChangedEvent;
    TurnEndedEvent?: TurnEndedEvent;
    TrustRequestedEvent?: TrustRequestedEvent;
    SessionEvent?: SessionEvent;
}
/**
 * The options of a client in `initializationOptions`, beside configuration.
 */
export interface ClientOptions {
    /**
     * It takes `ropewalk/event`.
     */
    events?: boolean;
    /**
     * It draws pending hunks itself, and wants neither diagnostics nor lenses.
     */
    drawsHunks?: boolean;
    /**
     * It shows approvals itself.
     */
    approvals?: boolean;
    /**
     * It takes the events of subagents too.
     */
    threads?: boolean;
    /**
     * It takes the events of teammates too, and shows what they ask.
     */
    team?: boolean;
    /**
     * It shows messages of any length without taking keys from the user.
     */
    messages?: boolean;
    /**
     * It answers `ropewalk/save` and `ropewalk/diagnostics`.
     */
    plugin?: boolean;
    /**
     * It answers `ropewalk/symbols`, `ropewalk/definition` and `ropewalk/references`.
     */
    knowledge?: boolean;
    /**
     * It applies edits, though its capabilities don't say so.
     */
    edits?: boolean;
    /**
     * It applies no edit at another version than the one it is for, and tells so: `applied` is believed.
     */
    checkedEdits?: boolean;
    /**
     * It wants the conversation document, though it takes events and approvals.
     */
    conversation?: boolean;
}
/**
 * `ropewalk.prompt`.
 */
export interface PromptArgument {
    /**
     * The words. `@path` and `@path:10-20` in them attach those lines.
     */
    prompt: string;
    /**
     * Content that goes with the words.
     */
    content?: Content[];
    /**
     * The document in which it is asked.
     */
    textDocument?: DocumentVersion | null;
    /**
     * The selection in it; an empty range is the cursor, whose line is named.
     */
    range?: TextRange | null;
    /**
     * The teammate that it is for; the session itself without it.
     */
    member?: string | null;
}
/**
 * A document, and the version of it that positions are of.
 */
export interface DocumentVersion {
    /**
     * Its URI.
     */
    uri: string;
    /**
     * The version that positions are of: they are found again after typing.
     */
    version?: number | null;
}
/**
 * A stretch of text from a position up to another.
 */
export interface TextRange {
    start: TextPosition;
    end: TextPosition;
}
/**
 * A place between two characters.
 */
export interface TextPosition {
    /**
     * The line, from zero.
     */
    line: number;
    /**
     * The units before it in the line.
     */
    character: number;
}
/**
 * `ropewalk.send`.
 */
export interface SendArgument {
    /**
     * The conversation document; the open one without it.
     */
    textDocument?: DocumentVersion | null;
    /**
     * A selection to send in place of the draft.
     */
    range?: TextRange | null;
    /**
     * True to wait for the end of a running turn, which is joined without it.
     */
    queue?: boolean;
}
/**
 * `ropewalk.steer`.
 */
export interface SteerArgument {
    /**
     * Words that join the running turn.
     */
    text: string;
    /**
     * The teammate that it is for; the session itself without it.
     */
    member?: string | null;
}
/**
 * `ropewalk.unqueue`.
 */
export interface UnqueueArgument {
    /**
     * The turn that the waiting prompt would be.
     */
    turn: number;
    /**
     * The teammate whose prompt waits. Without it, the current session's.
     */
    member?: string | null;
}
/**
 * `ropewalk.interrupt`.
 */
export interface InterruptArgument {
    /**
     * The subagent that is stopped alone; without it the turn is.
     */
    thread?: string | null;
    /**
     * The teammate that it is for; the session itself without it.
     */
    member?: string | null;
}
/**
 * `ropewalk.accept`, `ropewalk.reject` and `ropewalk.undo`: hunks, chosen in one way at most.
 */
export interface HunkChoice {
    /**
     * These.
     */
    hunk?: HunkIds | null;
    /**
     * All of a document.
     */
    uri?: string | null;
    /**
     * All of a turn.
     */
    turn?: number | null;
    /**
     * All.
     */
    all?: boolean;
    /**
     * Words for the model; to reject alone.
     */
    reason?: string | null;
    /**
     * The session that they are of; refused if it is not the current one.
     */
    session?: string | null;
}
/**
 * `ropewalk.edit`.
 */
export interface EditArgument {
    /**
     * The hunk.
     */
    hunk: number;
    /**
     * The lines in place of the proposed ones, whole.
     */
    text: string;
    /**
     * The session that it is of.
     */
    session?: string | null;
}
/**
 * `ropewalk.show`, and the request `ropewalk/hunk`.
 */
export interface HunkArgument {
    /**
     * The hunk.
     */
    hunk: number;
    /**
     * The session that it is of.
     */
    session?: string | null;
}
/**
 * `ropewalk.next`: where the user is; without any of it, where they were led last.
 */
export interface NextArgument {
    /**
     * The hunk they are at.
     */
    hunk?: number | null;
    /**
     * The document they are in.
     */
    textDocument?: DocumentVersion | null;
    /**
     * Their cursor in it.
     */
    position?: TextPosition | null;
    /**
     * The session that the hunk is of.
     */
    session?: string | null;
}
/**
 * `ropewalk.approve`.
 */
export interface ApprovalArgument {
    /**
     * The approval; the oldest without it.
     */
    approval?: number | null;
    /**
     * The answer; `once` without it.
     */
    answer?: ApprovalAnswer | null;
    /**
     * Words for the model, where it is refused.
     */
    words?: string | null;
    /**
     * The session that it is of.
     */
    session?: string | null;
    /**
     * The teammate that it is for; the session itself without it.
     */
    member?: string | null;
}
/**
 * Nothing.
 */
export interface NoArgument {}
/**
 * `ropewalk.mode`.
 */
export interface ModeArgument {
    /**
     * The mode from now on; without it nothing changes.
     */
    mode?: Mode | null;
}
/**
 * `ropewalk.model`.
 */
export interface ModelArgument {
    /**
     * The model from now on, as `PROVIDER/NAME`; without it nothing changes.
     */
    model?: string | null;
}
/**
 * `ropewalk.status`.
 */
export interface StatusArgument {
    /**
     * The teammate that it is about; the session itself without it.
     */
    member?: string | null;
}
/**
 * `ropewalk.sessions`.
 */
export interface SessionsArgument {
    /**
     * True for those of all folders.
     */
    all?: boolean;
}
/**
 * `ropewalk.resume`.
 */
export interface ResumeArgument {
    /**
     * The session: its number in the last list, its id, or the start of it; the last one without it.
     */
    session?: string | null;
}
/**
 * `ropewalk.rewind`.
 */
export interface RewindArgument {
    /**
     * The first turn that is taken back; the last one without it.
     */
    turn?: number | null;
}
/**
 * `ropewalk.compact`.
 */
export interface CompactArgument {
    /**
     * Matter that the summary keeps in view.
     */
    focus?: string | null;
}
/**
 * `ropewalk.rename`.
 */
export interface RenameArgument {
    /**
     * The name.
     */
    title: string;
    /**
     * The session; the current one without it.
     */
    session?: string | null;
}
/**
 * `ropewalk.delete`.
 */
export interface DeleteArgument {
    /**
     * The session.
     */
    session: string;
    /**
     * True if it is deleted also if changes wait in it.
     */
    force?: boolean;
}
/**
 * `ropewalk.export`.
 */
export interface ExportArgument {
    /**
     * The session; the current one without it.
     */
    session?: string | null;
    /**
     * A file that is not there yet; one of our own without it.
     */
    path?: string | null;
    /**
     * The teammate that it is for; the session itself without it.
     */
    member?: string | null;
}
/**
 * `ropewalk.tasks`.
 */
export interface TasksArgument {
    /**
     * The page, from one, which it is without it.
     */
    page?: number | null;
}
/**
 * `ropewalk.team`: one of these, or nothing to show the team.
 */
export interface TeamArgument {
    /**
     * The teammate that is to end.
     */
    stop?: string | null;
    /**
     * An answer to a plan.
     */
    plan?: PlanAnswer | null;
    /**
     * The team to lead, whose lead is gone.
     */
    adopt?: string | null;
}
/**
 * An answer to the plan of a teammate.
 */
export interface PlanAnswer {
    /**
     * The number of the request.
     */
    request: number;
    /**
     * True if the teammate may go on as planned.
     */
    approve: boolean;
    /**
     * Words for the teammate.
     */
    words?: string | null;
}
/**
 * `ropewalk.trust`.
 */
export interface TrustArgument {
    /**
     * The folder; the only one that asks without it.
     */
    root?: string | null;
    answer: Trust;
    /**
     * The hash of what was asked.
     */
    hash?: string | null;
}
/**
 * A document: `ropewalk/save`, and `ropewalk/document`.
 */
export interface DocumentName {
    /**
     * Its URI.
     */
    uri: string;
}
/**
 * `ropewalk/history`.
 */
export interface HistoryRequest {
    /**
     * The session; the current one without it.
     */
    session?: string | null;
    /**
     * Turns before this one alone.
     */
    before?: number | null;
    /**
     * How many turns at most, the last ones; 20 without it.
     */
    turns?: number | null;
}
/**
 * `ropewalk/result`.
 */
export interface ResultRequest {
    /**
     * The call.
     */
    call: string;
    /**
     * The session it is of; the current one without it.
     */
    session?: string | null;
}
/**
 * `ropewalk/complete`.
 */
export interface CompletionRequest {
    /**
     * The prompt as it is so far.
     */
    text: string;
    /**
     * Where the cursor is: units of the client's encoding from the start of the whole text.
     */
    offset: number;
}
/**
 * One of the answer to `ropewalk/diagnostics`.
 */
export interface DiagnosticLine {
    /**
     * The document.
     */
    uri: string;
    /**
     * Its line, from zero.
     */
    line: number;
    /**
     * `error`, `warning`, `information` or `hint`.
     */
    severity: string;
    /**
     * Words of the finding.
     */
    message: string;
    /**
     * Tool that found it.
     */
    source?: string | null;
}
/**
 * One of the answer to `ropewalk/symbols`.
 */
export interface SymbolPlace {
    /**
     * The document.
     */
    uri: string;
    range: TextRange;
    /**
     * Its name.
     */
    name: string;
    /**
     * Its kind in one word, such as `function`.
     */
    kind: string;
    /**
     * The name of what it is in, if that is known.
     */
    container?: string | null;
}
/**
 * One of the answer to `ropewalk/definition` and `ropewalk/references`.
 */
export interface DocumentPlace {
    /**
     * The document.
     */
    uri: string;
    range: TextRange;
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
     * The teammate it is for; none means the session's own agent.
     */
    member?: string | null;
    op: Op;
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
 * A selected text, taken at the moment of the request. One that is empty is where the cursor stands.
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
    answer: Trust;
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
    kind: ChangeKind;
    /**
     * The first line it replaces in the user's text, from zero.
     */
    line: number;
    /**
     * How many lines it replaces.
     */
    lines: number;
    /**
     * The URI of the open document that still has the name which the change takes from it. Absent if it has its own.
     */
    source?: string | null;
    /**
     * The version of the open document that `range` is of. Null if it is not open.
     */
    version: number | null;
    range: TextRange;
    /**
     * The lines as they are. Null where the texts are long: `ropewalk/hunk` gives them.
     */
    old: string | null;
    /**
     * The lines as they would be. Null where the texts are long.
     */
    new: string | null;
    /**
     * A unified diff with the lines around it. Null where the texts are long.
     */
    diff: string | null;
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
     * The members of the team whose work it is, in order. Absent for a change of the session's own.
     */
    members?: HunkMember[];
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
 * A member of a team, as the author of a change.
 */
export interface HunkMember {
    /**
     * Its name.
     */
    member: string;
    /**
     * The number of the task that it was made for. Absent for work without a task.
     */
    task?: number | null;
}
/**
 * A change that is in the user's text.
 */
export interface PublishedHunk {
    /**
     * The id that `ropewalk.undo` takes.
     */
    hunk: number;
    /**
     * The document's URI.
     */
    uri: string;
    /**
     * The path as it is shown.
     */
    file: string;
    kind: ChangeKind;
    /**
     * The version of the open document that `range` is of. Null if it is not open.
     */
    version: number | null;
    range: TextRange;
    /**
     * The lines that stood there before. Null where they are long.
     */
    old: string | null;
}
/**
 * One step of a task.
 */
export interface Todo {
    /**
     * The step, in one line.
     */
    content: string;
    status: TodoStatus;
}
/**
 * Counts of tokens and their price, as programs read them.
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
 * How full a model's context is, in tokens.
 */
export interface ContextUse {
    /**
     * Taken by the conversation so far.
     */
    used: number;
    /**
     * The size of it all; null where that is not known.
     */
    size: number | null;
}
/**
 * A member of a team.
 */
export interface TeamMember {
    /**
     * Its name.
     */
    name: string;
    /**
     * Its role; empty for any.
     */
    role: string;
    state: TeamState;
    /**
     * The number of the task that it works on. Null without one.
     */
    task: number | null;
    /**
     * Its session, if that is open in this server. Null for workers, and for members that have ended.
     */
    session: string | null;
    /**
     * Tokens that it used.
     */
    tokens: number;
    /**
     * Price of those in cents.
     */
    cents: number;
}
/**
 * A task of a team's board.
 */
export interface BoardTask {
    /**
     * Its number in the team.
     */
    number: number;
    /**
     * Its subject, in one line.
     */
    subject: string;
    status: BoardTaskStatus;
    /**
     * The member that works on it or has completed it. Null where nobody has.
     */
    owner: string | null;
    /**
     * The numbers of the tasks it still waits for.
     */
    blockedBy: number[];
    /**
     * How often it was begun.
     */
    attempt: number;
}
/**
 * The answer to `ropewalk.prompt`.
 */
export interface PromptTurn {
    /**
     * The session; null while there is none.
     */
    session: string | null;
    /**
     * The turn it will be; null where the prompt was a command.
     */
    turn: number | null;
    /**
     * The words that a command had to say. Absent for any other prompt.
     */
    said?: string | null;
}
/**
 * The answer to `ropewalk.unqueue`.
 */
export interface UnqueuedPrompt {
    /**
     * The words of the prompt that waits no more.
     */
    prompt: string;
}
/**
 * The answer to `ropewalk.show`.
 */
export interface HunkDiff {
    /**
     * A unified diff with the lines around it.
     */
    diff: string;
}
/**
 * The answer to `ropewalk.next`.
 */
export interface NextHunk {
    /**
     * The hunk.
     */
    hunk: number;
    /**
     * The document in which it is looked at.
     */
    uri: string;
    position: TextPosition;
    /**
     * The file that it changes, as it is shown.
     */
    file: string;
}
/**
 * The answer of a command that leads to a file.
 */
export interface CommandFile {
    /**
     * Its path.
     */
    path: string;
    /**
     * Its URI.
     */
    uri: string;
}
/**
 * The answer to `ropewalk.mode`.
 */
export interface SessionMode {
    mode: Mode;
}
/**
 * The answer to `ropewalk.model`.
 */
export interface CommandModel {
    /**
     * The model now; null where none is usable.
     */
    model: string | null;
    /**
     * Words on the set-up that lacks, where none is usable.
     */
    missing?: string | null;
}
/**
 * A model that can be chosen: one of the answer to `ropewalk.models`.
 */
export interface ModelInfo {
    /**
     * Its name, as `PROVIDER/NAME`.
     */
    model: string;
    /**
     * True if it can be used as things are.
     */
    usable: boolean;
    /**
     * Words on the set-up that lacks before it can be used; null where nothing does.
     */
    missing: string | null;
    /**
     * Tokens that it takes; null where that is not known.
     */
    context: number | null;
    /**
     * Its price; null where that is not known.
     */
    price: ModelPrice | null;
    /**
     * True if the current session uses it.
     */
    current: boolean;
}
/**
 * The price of a model in US dollars per million tokens.
 */
export interface ModelPrice {
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
    mode: Mode;
    /**
     * Its model; null where none is usable.
     */
    model: string | null;
    /**
     * Words on the set-up that lacks where none is usable, else null.
     */
    missing: string | null;
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
    tokens: Tokens;
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
 * How full a model's context is by the last request, in tokens, by estimate.
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
 * The answer to `ropewalk.new`.
 */
export interface CommandSession {
    /**
     * The session.
     */
    session: string;
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
 * The answer to `ropewalk.resume`.
 */
export interface SessionSummary {
    /**
     * The session.
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
     * How many changes wait for review.
     */
    pending: number;
}
/**
 * The answer to `ropewalk.rewind`.
 */
export interface RewoundTurn {
    /**
     * The first turn that is taken back.
     */
    turn: number;
    /**
     * The words it had begun with.
     */
    prompt: string;
}
/**
 * The answer to `ropewalk.rename`.
 */
export interface SessionName {
    /**
     * The session.
     */
    session: string;
    /**
     * Its name now.
     */
    title: string;
}
/**
 * The answer to `ropewalk.delete`.
 */
export interface DeletedSession {
    /**
     * The session that is gone.
     */
    session: string;
    /**
     * Its name; empty if it had none.
     */
    title: string;
    /**
     * How many changes had waited for review in it.
     */
    pending: number;
}
/**
 * The answer to `ropewalk.tasks`.
 */
export interface TaskPage {
    /**
     * The tasks, by number.
     */
    tasks: BoardTask[];
    /**
     * True if there is another page.
     */
    more: boolean;
}
/**
 * A team and its members.
 */
export interface TeamRoster {
    /**
     * The team's name.
     */
    team: string;
    /**
     * The members as they are now, the lead first.
     */
    members: TeamMember[];
}
/**
 * A message to the lead of a team.
 */
export interface TeamMessage {
    /**
     * Its number on the board.
     */
    number: number;
    /**
     * The member that sent it, or `board`.
     */
    from: string;
    /**
     * One word for its kind, such as `message`, `plan` or `task_failed`.
     */
    kind: string;
    /**
     * The number of the request in it, such as a plan that waits for an answer. Null without one.
     */
    request: number | null;
    /**
     * Its text.
     */
    body: string;
}
/**
 * The answer to `ropewalk.trust`.
 */
export interface TrustOutcome {
    /**
     * The folder that was answered about.
     */
    root?: string | null;
    /**
     * How many answers were forgotten.
     */
    forgotten?: number | null;
}
/**
 * The answer to `ropewalk/hunk`: the texts of a change, whole.
 */
export interface HunkTexts {
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
}
/**
 * The answer to `ropewalk/document`.
 */
export interface ProposedDocument {
    /**
     * Its text with all proposed changes; null if there would be no such file, or none of text.
     */
    text: string | null;
}
/**
 * The answer to `ropewalk/history`.
 */
export interface SessionHistory {
    /**
     * The session.
     */
    session: string;
    /**
     * Finished turns, the oldest first.
     */
    turns: HistoryTurn[];
    /**
     * True if there are turns before these.
     */
    more: boolean;
}
/**
 * A turn that has ended.
 */
export interface HistoryTurn {
    /**
     * Its number.
     */
    turn: number;
    /**
     * When it began, in milliseconds since 1970.
     */
    at: number;
    /**
     * The words it began with.
     */
    prompt: string;
    stopReason: StopReason;
    usage: Tokens;
    /**
     * Its events as they were told, each step's words and thoughts in one delta, and of outputs the previews alone.
     */
    events: SessionEvent[];
}
/**
 * A session has begun, or goes on, and is the current one: the first event of each.
 */
export interface SessionStartedEvent {
    type: 'session_started';
    /**
     * Its name; empty while it has none.
     */
    title: string;
    /**
     * How many turns it has had.
     */
    turns: number;
    mode: Mode;
    /**
     * Its model; null where none is usable.
     */
    model: string | null;
    /**
     * Tokens that the model takes; null where that is not known.
     */
    context: number | null;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * It has another name.
 */
export interface SessionRenamedEvent {
    type: 'session_renamed';
    /**
     * The name.
     */
    title: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The words and the edits of this turn and of all after it were taken back; `prompt` is what it had begun with.
 */
export interface RewoundEvent {
    type: 'rewound';
    /**
     * The turn.
     */
    turn: number;
    /**
     * The words it had begun with, for the user to say it another way.
     */
    prompt: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A turn has begun. Turns are numbered from 1.
 */
export interface TurnStartedEvent {
    type: 'turn_started';
    /**
     * Its number in the session, from one.
     */
    turn: number;
    /**
     * The user's words.
     */
    prompt: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A prompt waits until the running turn, or the compaction between two, has ended.
 */
export interface QueuedEvent {
    type: 'queued';
    /**
     * The turn it will be.
     */
    turn: number;
    /**
     * The user's words.
     */
    prompt: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The model is asked; steps are numbered from 1 in each turn.
 */
export interface StepStartedEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * Words of the user to the running turn have joined it.
 */
export interface SteeredEvent {
    type: 'steered';
    /**
     * The turn.
     */
    turn: number;
    /**
     * Their words.
     */
    text: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A piece of the model's words.
 */
export interface TextDeltaEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A piece of its thoughts.
 */
export interface ThinkingDeltaEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The model's server failed and is asked again: what this step has said so far is void.
 */
export interface RetryingEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * Nothing of the reply has come from the model's server for so long, before its first words or between two; told
 * a few times while it lasts. `isQueued`: it was not asked yet, since other requests are before this one.
 */
export interface WaitingEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A tool call begins; `call` is its id.
 */
export interface ToolCallEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A running command says something: a piece every 50 ms at most, without escape sequences, and no more than a
 * megabyte of each call. One in the background goes on after the call has its result.
 */
export interface ToolOutputEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The look at what is done before a turn ends: `todos` that are open, new `errors` in the editor, and the end of what
 * `verify` printed if it failed. The model may be sent back, after which comes another. `verify` is seen as a call
 * of that name while it runs.
 */
export interface CheckEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A call has its result, of which this is the start. `secret` is the name in the call that may hold secrets, if
 * it ran: mark what is kept of it. Else null. `ran` says where its command ran: over the `fork`, on a `copy`, or in
 * `place`. Null if it ran none.
 */
export interface ToolResultEvent {
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
    /**
     * Where its command ran: `fork`, `copy` or `place`. Null if it ran none.
     */
    ran: CommandPlace | null;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A call waits, for as long as it takes; see Approvals below.
 */
export interface ApprovalRequestedEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * It waits no more: `allowed`, `refused`, `waiting for save` or `interrupted`.
 */
export interface ApprovalResolvedEvent {
    type: 'approval_resolved';
    /**
     * The turn.
     */
    turn: number;
    /**
     * The approval's id.
     */
    approval: number;
    how: Resolution;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * All pending hunks as they are now, in the order of files and lines; see Hunks below.
 */
export interface HunksEvent {
    type: 'hunks';
    /**
     * In the order of files and lines.
     */
    hunks: HunkInfo[];
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * Changes are in the user's text, in every mode: the editor has shown that it made them, or the file is written.
 * `ropewalk.undo` takes each back by its id.
 */
export interface PublishedEvent {
    type: 'published';
    /**
     * The turn that has made them.
     */
    turn: number;
    /**
     * The changes, in the order of files and lines; see Published changes below.
     */
    changes: PublishedHunk[];
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The user has typed into a proposed change, or the file has moved on under it: it waits no more, and the text stays
 * as it is.
 */
export interface SetAsideEvent {
    type: 'set_aside';
    /**
     * The path as it is shown.
     */
    file: string;
    /**
     * The document's URI.
     */
    uri: string;
    /**
     * The text that the change was made for.
     */
    old: string;
    /**
     * The text that was proposed.
     */
    new: string;
    /**
     * The text that stands there now.
     */
    now: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The outcome of an `accept`, `reject`, `edit`, `undo` or `rewind`: how many hunks, and what could not be done,
 * in words.
 */
export interface ReviewedEvent {
    type: 'reviewed';
    action: ReviewAction;
    /**
     * How many hunks it was done for.
     */
    done: number;
    /**
     * Failures, in words.
     */
    failed: string[];
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The todos of the session are these now, `done` of them completed. Also told after `session_started` if there are
 * any, and after `rewound` if there were others.
 */
export interface TodosEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * Tokens of the last step, of the turn so far, and of the session, with what they cost; see Tokens below.
 */
export interface UsageEvent {
    type: 'usage';
    /**
     * The turn.
     */
    turn: number;
    step: Tokens;
    inTurn: Tokens;
    total: Tokens;
    context: ContextUse;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The conversation is about to be compacted: its beginning is summed up, which takes the model a while. `why` is
 * `full`, `asked` or `refused`.
 */
export interface CompactingEvent {
    type: 'compacting';
    /**
     * The turn, or the last one if none runs.
     */
    turn: number;
    why: CompactionCause;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * It was compacted: what the model remembers of its beginning is the summary.
 */
export interface CompactedEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A subagent begins or ends, whose id is the `thread` beside this event.
 */
export interface ThreadEvent {
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
    state: ThreadState;
    /**
     * The steps it took.
     */
    steps: number;
    usage: Tokens;
    /**
     * The files in which its changes have come back.
     */
    changed: string[];
    /**
     * The files in which some of them had lost their place.
     */
    conflicts: string[];
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The members of the team are these now, with `name`, `role`, `state` (`working`, `idle`, `shutdown`, `gone`), `task`,
 * `tokens` and `cents`.
 */
export interface TeamEvent {
    type: 'team';
    /**
     * All of them, the lead first.
     */
    members: TeamMember[];
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A task of the team's board stands so now: `status` is `pending`, `in_progress`, `completed`, `failed` or `cancelled`.
 */
export interface BoardTaskEvent {
    type: 'board_task';
    /**
     * Its number in the team.
     */
    number: number;
    /**
     * Its subject, in one line.
     */
    subject: string;
    status: BoardTaskStatus;
    /**
     * The member that works on it or has completed it. Null where nobody has.
     */
    owner: string | null;
    /**
     * The numbers of the tasks it still waits for.
     */
    blockedBy: number[];
    /**
     * How often it was begun.
     */
    attempt: number;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * Something the user should know: `info`, `warning` or `error`.
 */
export interface NoticeEvent {
    type: 'notice';
    level: Level;
    /**
     * One sentence.
     */
    message: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The mode is another.
 */
export interface ModeChangedEvent {
    type: 'mode_changed';
    mode: Mode;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The model is another.
 */
export interface ModelChangedEvent {
    type: 'model_changed';
    /**
     * Its name.
     */
    model: string;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * A turn has ended: `end_turn`, `max_tokens`, `max_steps`, `budget`, `refusal`, `interrupted` or `error`;
 * `message` says more, or is null.
 */
export interface TurnEndedEvent {
    type: 'turn_ended';
    /**
     * The turn.
     */
    turn: number;
    stopReason: StopReason;
    /**
     * Words about the end, unless it ended well.
     */
    message: string | null;
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The configuration of the folder `root`, in `file` (a URI), asks for what only the user can grant: `enables`
 * says it line by line, `question` in one paragraph, and `hash` stands for exactly that. Until it is trusted it
 * is ignored. Of no session.
 */
export interface TrustRequestedEvent {
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
    /**
     * The session it is of, if it is of one.
     */
    session?: string | null;
    /**
     * The subagent it is of, if it is of one.
     */
    thread?: string | null;
    /**
     * The teammate whose it is. Absent for the lead's own, and without a team.
     */
    member?: string | null;
}
/**
 * The answer to `ropewalk/result`.
 */
export interface CallResult {
    /**
     * Text that the model got, whole.
     */
    text: string;
    /**
     * True if the call failed.
     */
    isError: boolean;
}
/**
 * The answer to `ropewalk/complete`.
 */
export interface Completions {
    /**
     * Where the text begins that an item takes the place of, up to the cursor.
     */
    start: number;
    /**
     * Completions, the best first.
     */
    items: Completion[];
}
/**
 * Something that can be completed in a prompt.
 */
export interface Completion {
    /**
     * The text that is put in, with its `@` or `/`.
     */
    text: string;
    kind: CompletionKind;
    /**
     * A few words on it; empty for a file.
     */
    detail: string;
}
/**
 * `ropewalk/diagnostics`.
 */
export interface DiagnosticsRequest {
    /**
     * The document; null for all.
     */
    uri: string | null;
}
/**
 * `ropewalk/symbols`.
 */
export interface SymbolsRequest {
    /**
     * A part of the names that are looked for; empty for all of a document.
     */
    query: string;
    /**
     * The document; null for the whole workspace.
     */
    uri: string | null;
}
/**
 * `ropewalk/definition` and `ropewalk/references`.
 */
export interface PlaceRequest {
    /**
     * The document, which need not be open.
     */
    uri: string;
    /**
     * The version that the position is of; null if the document is not open.
     */
    version: number | null;
    position: TextPosition;
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

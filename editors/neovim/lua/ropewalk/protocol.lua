---@meta ropewalk.protocol
-- Written by a test of the server from its types: don't edit it.

--- The options of a client in `initializationOptions`, beside configuration.
---@class ropewalk.ClientOptions
---@field events? boolean It takes `ropewalk/event`.
---@field drawsHunks? boolean It draws pending hunks itself, and wants neither diagnostics nor lenses.
---@field approvals? boolean It shows approvals itself.
---@field threads? boolean It takes the events of subagents too.
---@field team? boolean It takes the events of teammates too, and shows what they ask.
---@field messages? boolean It shows messages of any length without taking keys from the user.
---@field plugin? boolean It answers `ropewalk/save` and `ropewalk/diagnostics`.
---@field knowledge? boolean It answers `ropewalk/symbols`, `ropewalk/definition` and `ropewalk/references`.
---@field edits? boolean It applies edits, though its capabilities don't say so.
---@field checkedEdits? boolean It applies no edit at another version than the one it is for, and tells so: `applied` is believed.
---@field conversation? boolean It wants the conversation document, though it takes events and approvals.

--- `ropewalk.prompt`.
---@class ropewalk.PromptArgument
---@field prompt string The words. `@path` and `@path:10-20` in them attach those lines.
---@field content? ropewalk.Content[] Content that goes with the words.
---@field textDocument? ropewalk.DocumentVersion The document in which it is asked.
---@field range? ropewalk.TextRange The selection in it; an empty range is the cursor, whose line is named.
---@field member? string The teammate that it is for; the session itself without it.

---@class ropewalk.Content1
---@field type "text"
---@field text string The text.

---@class ropewalk.Content2
---@field type "image"
---@field mime string Its MIME type, such as `image/png`.
---@field data string Its bytes in base64, without line ends.

---@class ropewalk.Content3
---@field type "resource"
---@field uri string The URI.
---@field mime? string Its MIME type, where that is known.
---@field text string The text.

---@class ropewalk.Content4
---@field type "link"
---@field uri string The URI.
---@field name string The name to show for it.

--- A part of a prompt or of a result.
---@alias ropewalk.Content ropewalk.Content1|ropewalk.Content2|ropewalk.Content3|ropewalk.Content4

--- A document, and the version of it that positions are of.
---@class ropewalk.DocumentVersion
---@field uri string Its URI.
---@field version? integer The version that positions are of: they are found again after typing.

--- A stretch of text from a position up to another.
---@class ropewalk.TextRange
---@field start ropewalk.TextPosition Its first position.
---@field end ropewalk.TextPosition The position behind it.

--- A place between two characters.
---@class ropewalk.TextPosition
---@field line integer The line, from zero.
---@field character integer The units before it in the line.

--- `ropewalk.send`.
---@class ropewalk.SendArgument
---@field textDocument? ropewalk.DocumentVersion The conversation document; the open one without it.
---@field range? ropewalk.TextRange A selection to send in place of the draft.
---@field queue? boolean True to wait for the end of a running turn, which is joined without it.

--- `ropewalk.steer`.
---@class ropewalk.SteerArgument
---@field text string Words that join the running turn.
---@field member? string The teammate that it is for; the session itself without it.

--- `ropewalk.unqueue`.
---@class ropewalk.UnqueueArgument
---@field turn integer The turn that the waiting prompt would be.
---@field member? string The teammate whose prompt waits. Without it, the current session's.

--- `ropewalk.interrupt`.
---@class ropewalk.InterruptArgument
---@field thread? string The subagent that is stopped alone; without it the turn is.
---@field member? string The teammate that it is for; the session itself without it.

--- `ropewalk.accept`, `ropewalk.reject` and `ropewalk.undo`: hunks, chosen in one way at most.
---@class ropewalk.HunkChoice
---@field hunk? ropewalk.HunkIds These.
---@field uri? string All of a document.
---@field turn? integer All of a turn.
---@field all? boolean All.
---@field reason? string Words for the model; to reject alone.
---@field session? string The session that they are of; refused if it is not the current one.

--- Ids of hunks.
---@alias ropewalk.HunkIds integer|integer[]

--- `ropewalk.edit`.
---@class ropewalk.EditArgument
---@field hunk integer The hunk.
---@field text string The lines in place of the proposed ones, whole.
---@field session? string The session that it is of.

--- `ropewalk.show`, and the request `ropewalk/hunk`.
---@class ropewalk.HunkArgument
---@field hunk integer The hunk.
---@field session? string The session that it is of.

--- `ropewalk.next`: where the user is; without any of it, where they were led last.
---@class ropewalk.NextArgument
---@field hunk? integer The hunk they are at.
---@field textDocument? ropewalk.DocumentVersion The document they are in.
---@field position? ropewalk.TextPosition Their cursor in it.
---@field session? string The session that the hunk is of.

--- `ropewalk.approve`.
---@class ropewalk.ApprovalArgument
---@field approval? integer The approval; the oldest without it.
---@field answer? ropewalk.ApprovalAnswer The answer; `once` without it.
---@field words? string Words for the model, where it is refused.
---@field session? string The session that it is of.
---@field member? string The teammate that it is for; the session itself without it.

--- An answer to an approval.
---@alias ropewalk.ApprovalAnswer "once"|"session"|"always"|"afterSave"|"refuse"

--- Nothing.
---@alias ropewalk.NoArgument table

--- `ropewalk.mode`.
---@class ropewalk.ModeArgument
---@field mode? ropewalk.Mode The mode from now on; without it nothing changes.

--- When changes reach the editor, and so what a call may do. Ordered by strictness: `Auto < Review < Plan`.
---@alias ropewalk.Mode "auto"|"review"|"plan"

--- `ropewalk.model`.
---@class ropewalk.ModelArgument
---@field model? string The model from now on, as `PROVIDER/NAME`; without it nothing changes.

--- `ropewalk.status`.
---@class ropewalk.StatusArgument
---@field member? string The teammate that it is about; the session itself without it.

--- `ropewalk.sessions`.
---@class ropewalk.SessionsArgument
---@field all? boolean True for those of all folders.

--- `ropewalk.resume`.
---@class ropewalk.ResumeArgument
---@field session? string The session: its number in the last list, its id, or the start of it; the last one without it.

--- `ropewalk.rewind`.
---@class ropewalk.RewindArgument
---@field turn? integer The first turn that is taken back; the last one without it.

--- `ropewalk.compact`.
---@class ropewalk.CompactArgument
---@field focus? string Matter that the summary keeps in view.

--- `ropewalk.rename`.
---@class ropewalk.RenameArgument
---@field title string The name.
---@field session? string The session; the current one without it.

--- `ropewalk.delete`.
---@class ropewalk.DeleteArgument
---@field session string The session.
---@field force? boolean True if it is deleted also if changes wait in it.

--- `ropewalk.export`.
---@class ropewalk.ExportArgument
---@field session? string The session; the current one without it.
---@field path? string A file that is not there yet; one of our own without it.
---@field member? string The teammate that it is for; the session itself without it.

--- `ropewalk.tasks`.
---@class ropewalk.TasksArgument
---@field page? integer The page, from one, which it is without it.

--- `ropewalk.team`: one of these, or nothing to show the team.
---@class ropewalk.TeamArgument
---@field stop? string The teammate that is to end.
---@field plan? ropewalk.PlanAnswer An answer to a plan.
---@field adopt? string The team to lead, whose lead is gone.

--- An answer to the plan of a teammate.
---@class ropewalk.PlanAnswer
---@field request integer The number of the request.
---@field approve boolean True if the teammate may go on as planned.
---@field words? string Words for the teammate.

--- `ropewalk.trust`.
---@class ropewalk.TrustArgument
---@field root? string The folder; the only one that asks without it.
---@field answer ropewalk.Trust The answer.
---@field hash? string The hash of what was asked.

--- Trust in what a folder's configuration asks for.
---@alias ropewalk.Trust "trust"|"never"|"forget"

--- A document: `ropewalk/save`, and `ropewalk/document`.
---@class ropewalk.DocumentName
---@field uri string Its URI.

--- `ropewalk/history`.
---@class ropewalk.HistoryRequest
---@field session? string The session; the current one without it.
---@field before? integer Turns before this one alone.
---@field turns? integer How many turns at most, the last ones; 20 without it.

--- `ropewalk/result`.
---@class ropewalk.ResultRequest
---@field call string The call.
---@field session? string The session it is of; the current one without it.

--- `ropewalk/complete`.
---@class ropewalk.CompletionRequest
---@field text string The prompt as it is so far.
---@field offset integer Where the cursor is: units of the client's encoding from the start of the whole text.

--- One of the answer to `ropewalk/diagnostics`.
---@class ropewalk.DiagnosticLine
---@field uri string The document.
---@field line integer Its line, from zero.
---@field severity string `error`, `warning`, `information` or `hint`.
---@field message string Words of the finding.
---@field source? string Tool that found it.

--- One of the answer to `ropewalk/symbols`.
---@class ropewalk.SymbolPlace
---@field uri string The document.
---@field range ropewalk.TextRange Where its name stands, or all of it.
---@field name string Its name.
---@field kind string Its kind in one word, such as `function`.
---@field container? string The name of what it is in, if that is known.

--- One of the answer to `ropewalk/definition` and `ropewalk/references`.
---@class ropewalk.DocumentPlace
---@field uri string The document.
---@field range ropewalk.TextRange Where in it.

--- A request as a host takes it.
---@class ropewalk.Request
---@field session? string The session it is for; none means the current one. `resume`, `rename`, `delete` and `export` take its number in the last list too, or the start of its id.
---@field member? string The teammate it is for; none means the session's own agent.
---@field op ropewalk.Op The request itself.

---@class ropewalk.Op1
---@field prompt ropewalk.Prompt

---@class ropewalk.Op2
---@field steer ropewalk.Content[]

---@class ropewalk.Op3
---@field unqueue integer

---@class ropewalk.Op4
---@field interrupt? string

---@class ropewalk.Op5
---@field accept ropewalk.Selection

---@class ropewalk.Op6
---@field reject any[]

---@class ropewalk.Op7
---@field edit any[]

---@class ropewalk.Op8
---@field undo ropewalk.Selection

---@class ropewalk.Op9
---@field rewind integer

---@class ropewalk.Op10
---@field compact? string

---@class ropewalk.Op11
---@field rename string

---@class ropewalk.Op12
---@field approve any[]

---@class ropewalk.Op13
---@field mode ropewalk.Mode

---@class ropewalk.Op14
---@field set_model string

---@class ropewalk.Op16
---@field new ropewalk.Op16.new

---@class ropewalk.Op17
---@field resume ropewalk.Op17.resume

---@class ropewalk.Op19
---@field sessions ropewalk.Op19.sessions

---@class ropewalk.Op20
---@field delete ropewalk.Op20.delete

---@class ropewalk.Op21
---@field export? string

---@class ropewalk.Op23
---@field trust ropewalk.TrustAnswer

---@class ropewalk.Op24
---@field tasks ropewalk.Op24.tasks

---@class ropewalk.Op25
---@field team ropewalk.TeamOp

--- A request of the user to a session, or about sessions.
---@alias ropewalk.Op ropewalk.Op1|ropewalk.Op2|ropewalk.Op3|ropewalk.Op4|ropewalk.Op5|ropewalk.Op6|ropewalk.Op7|ropewalk.Op8|ropewalk.Op9|ropewalk.Op10|ropewalk.Op11|ropewalk.Op12|ropewalk.Op13|ropewalk.Op14|"status"|ropewalk.Op16|ropewalk.Op17|"close"|ropewalk.Op19|ropewalk.Op20|ropewalk.Op21|"rules"|ropewalk.Op23|ropewalk.Op24|ropewalk.Op25|"inbox"

--- A request of the user, with what they were looking at when they made it.
---@class ropewalk.Prompt
---@field content ropewalk.Content[] Their words, and what they show.
---@field selection? ropewalk.SelectedText The text they had selected.

--- A selected text, taken at the moment of the request. One that is empty is where the cursor stands.
---@class ropewalk.SelectedText
---@field file string The file as it is shown.
---@field language string Its language, as the editor names it.
---@field lines any[] The first and last line, counted from one.
---@field text string The text.

---@class ropewalk.Selection1
---@field hunks integer[]

---@class ropewalk.Selection2
---@field file string

---@class ropewalk.Selection3
---@field turn integer

--- Hunks that are meant.
---@alias ropewalk.Selection ropewalk.Selection1|ropewalk.Selection2|ropewalk.Selection3|"all"

---@class ropewalk.Verdict5
---@field refuse? string

--- The user's word on a call.
---@alias ropewalk.Verdict "once"|"session"|"always"|"afterSave"|ropewalk.Verdict5

--- An answer to the question if a folder's configuration is trusted.
---@class ropewalk.TrustAnswer
---@field root? string The folder, as a path or a URI; none means the only one that asks, or for `forget` all that are open.
---@field hash? string Hash of what was asked: the answer is refused if something else is asked by now.
---@field answer ropewalk.Trust The answer.

---@class ropewalk.TeamOp2
---@field stop string

---@class ropewalk.TeamOp3
---@field plan ropewalk.TeamOp3.plan

---@class ropewalk.TeamOp4
---@field adopt string

--- A request of the user about a team.
---@alias ropewalk.TeamOp "show"|ropewalk.TeamOp2|ropewalk.TeamOp3|ropewalk.TeamOp4

--- A request that can't be done.
---@class ropewalk.Refusal
---@field words string Why, in a sentence without its full stop.
---@field in_use boolean True if another process has the session.

--- Where a command runs.
---@alias ropewalk.CommandPlace "fork"|"copy"|"place"

--- The outcome of an approval.
---@alias ropewalk.Resolution "allowed"|"refused"|"waiting for save"|"interrupted"

--- A pending hunk.
---@class ropewalk.HunkInfo
---@field id integer Its id, unique in its session.
---@field uri string The document's URI.
---@field file string The path as it is shown.
---@field kind ropewalk.ChangeKind The kind of change: of all but `text` and `create`, `diff` says in words what changes.
---@field line integer The first line it replaces in the user's text, from zero.
---@field lines integer How many lines it replaces.
---@field source? string The URI of the open document that still has the name which the change takes from it. Absent if it has its own.
---@field version? integer The version of the open document that `range` is of. Null if it is not open.
---@field range ropewalk.TextRange The lines that it replaces, as the client counts, without the last one's line end; where it replaces none, the start of the line it goes before.
---@field old? string The lines as they are. Null where the texts are long: `ropewalk/hunk` gives them.
---@field new? string The lines as they would be. Null where the texts are long.
---@field diff? string A unified diff with the lines around it. Null where the texts are long.
---@field turn integer The turn it was made in.
---@field calls string[] The ids of the tool calls that it came of, in order.
---@field members? ropewalk.HunkMember[] The members of the team whose work it is, in order. Absent for a change of the session's own.
---@field commands string[] The first line of each command among them, in order.
---@field sent boolean True if it is on its way to the editor.
---@field review? string The program or agent that runs or follows the file, in words: it waits for the user in mode `auto` too. Absent where none does.

--- Kinds of changes.
---@alias ropewalk.ChangeKind "text"|"create"|"delete"|"rename"|"binary"|"mode"|"link"

--- A member of a team, as the author of a change.
---@class ropewalk.HunkMember
---@field member string Its name.
---@field task? integer The number of the task that it was made for. Absent for work without a task.

--- A change that is in the user's text.
---@class ropewalk.PublishedHunk
---@field hunk integer The id that `ropewalk.undo` takes.
---@field uri string The document's URI.
---@field file string The path as it is shown.
---@field kind ropewalk.ChangeKind The kind of change.
---@field version? integer The version of the open document that `range` is of. Null if it is not open.
---@field range ropewalk.TextRange The new lines, as the client counts, without the last one's line end; where there are none, the start of the line that they stood before.
---@field old? string The lines that stood there before. Null where they are long.

--- A decision of the user about changes.
---@alias ropewalk.ReviewAction "accept"|"reject"|"edit"|"undo"|"rewind"

--- One step of a task.
---@class ropewalk.Todo
---@field content string The step, in one line.
---@field status ropewalk.TodoStatus How far it is.

--- How far a todo is.
---@alias ropewalk.TodoStatus "pending"|"in_progress"|"completed"

--- Counts of tokens and their price, as programs read them.
---@class ropewalk.Tokens
---@field input integer Read anew.
---@field output integer Written by the model.
---@field cacheRead integer Read from the provider's cache.
---@field cacheWrite integer Put into the provider's cache.
---@field cacheHitPercent? integer How much of what was read came from the cache, in percent. Null where there is no cache.
---@field cost? number In US dollars, without the unpriced. Null if nothing is known to have a price.
---@field unpriced integer How many of these tokens have no known price.

--- How full a model's context is, in tokens.
---@class ropewalk.ContextUse
---@field used integer Taken by the conversation so far.
---@field size? integer The size of it all; null where that is not known.

--- Why a conversation is compacted.
---@alias ropewalk.CompactionCause "full"|"asked"|"refused"

--- How far a subagent is.
---@alias ropewalk.ThreadState "started"|"ended"

--- A member of a team.
---@class ropewalk.TeamMember
---@field name string Its name.
---@field role string Its role; empty for any.
---@field state ropewalk.TeamState Its state.
---@field task? integer The number of the task that it works on. Null without one.
---@field session? string Its session, if that is open in this server. Null for workers, and for members that have ended.
---@field tokens integer Tokens that it used.
---@field cents integer Price of those in cents.

--- State of a member.
---@alias ropewalk.TeamState "working"|"idle"|"shutdown"|"gone"

--- Status of a board task.
---@alias ropewalk.BoardTaskStatus "pending"|"in_progress"|"completed"|"failed"|"cancelled"

--- A task of a team's board.
---@class ropewalk.BoardTask
---@field number integer Its number in the team.
---@field subject string Its subject, in one line.
---@field status ropewalk.BoardTaskStatus Its status.
---@field owner? string The member that works on it or has completed it. Null where nobody has.
---@field blockedBy integer[] The numbers of the tasks it still waits for.
---@field attempt integer How often it was begun.

--- How important a notice is.
---@alias ropewalk.Level "info"|"warning"|"error"

--- Why a turn ended.
---@alias ropewalk.StopReason "end_turn"|"max_tokens"|"max_steps"|"budget"|"refusal"|"interrupted"|"error"

--- The answer to `ropewalk.prompt`.
---@class ropewalk.PromptTurn
---@field session? string The session; null while there is none.
---@field turn? integer The turn it will be; null where the prompt was a command.
---@field said? string The words that a command had to say. Absent for any other prompt.

--- The answer to `ropewalk.unqueue`.
---@class ropewalk.UnqueuedPrompt
---@field prompt string The words of the prompt that waits no more.

--- The answer to `ropewalk.show`.
---@class ropewalk.HunkDiff
---@field diff string A unified diff with the lines around it.

--- The answer to `ropewalk.next`.
---@class ropewalk.NextHunk
---@field hunk integer The hunk.
---@field uri string The document in which it is looked at.
---@field position ropewalk.TextPosition Where it begins there.
---@field file string The file that it changes, as it is shown.

--- The answer of a command that leads to a file.
---@class ropewalk.CommandFile
---@field path string Its path.
---@field uri string Its URI.

--- The answer to `ropewalk.mode`.
---@class ropewalk.SessionMode
---@field mode ropewalk.Mode The mode now.

--- The answer to `ropewalk.model`.
---@class ropewalk.CommandModel
---@field model? string The model now; null where none is usable.
---@field missing? string Words on the set-up that lacks, where none is usable.

--- A model that can be chosen: one of the answer to `ropewalk.models`.
---@class ropewalk.ModelInfo
---@field model string Its name, as `PROVIDER/NAME`.
---@field usable boolean True if it can be used as things are.
---@field missing? string Words on the set-up that lacks before it can be used; null where nothing does.
---@field context? integer Tokens that it takes; null where that is not known.
---@field price? ropewalk.ModelPrice Its price; null where that is not known.
---@field current boolean True if the current session uses it.

--- The price of a model in US dollars per million tokens.
---@class ropewalk.ModelPrice
---@field input number Read anew.
---@field output number Written by the model.
---@field cacheRead number Read from the provider's cache.
---@field cacheWrite number Put into the provider's cache.

--- A session as it stands.
---@class ropewalk.Status
---@field session string Its id.
---@field title string Its name; empty while it has none.
---@field turns integer How many turns it has had.
---@field locks ropewalk.Lock[] Keys that the configuration locks.
---@field mode ropewalk.Mode Its mode.
---@field model? string Its model; null where none is usable.
---@field missing? string Words on the set-up that lacks where none is usable, else null.
---@field hunks integer How many hunks are pending.
---@field approvals integer[] Ids of the approvals that wait, the oldest first.
---@field todos integer How many todos there are.
---@field todosDone integer How many of them are completed.
---@field messages integer How many messages were said.
---@field tokens ropewalk.Tokens Tokens so far, and what they cost.
---@field context ropewalk.ContextFill How full the model's context is.
---@field desyncAlarms integer How often a document was found to be out of step.

--- A key of the configuration that can't be changed here.
---@class ropewalk.Lock
---@field key string The key.
---@field by string The place that locks it.

--- How full a model's context is by the last request, in tokens, by estimate.
---@class ropewalk.ContextFill
---@field used integer Taken by all of it; 0 before the first request.
---@field prelude integer Taken by the system prompt and the tools.
---@field context integer The model's context; 0 where it is not known.

--- The answer to `ropewalk.new`.
---@class ropewalk.CommandSession
---@field session string The session.

--- A session that is kept.
---@class ropewalk.SessionInfo
---@field session string Its id.
---@field title string Its name; empty while it has none.
---@field began integer When it began, in milliseconds since 1970.
---@field at integer When something last happened in it, likewise.
---@field roots string[] The folders it works in.
---@field turns integer How many turns it has.
---@field pending integer How many changes wait for review.
---@field unsaved integer How many accepted changes were never saved: if the editor died, they wait again.
---@field bytes integer The size of its journal, in bytes.
---@field inUse boolean True if another process has it.
---@field current boolean True if it is the current one.

--- The answer to `ropewalk.resume`.
---@class ropewalk.SessionSummary
---@field session string The session.
---@field title string Its name; empty while it has none.
---@field turns integer How many turns it has had.
---@field pending integer How many changes wait for review.

--- The answer to `ropewalk.rewind`.
---@class ropewalk.RewoundTurn
---@field turn integer The first turn that is taken back.
---@field prompt string The words it had begun with.

--- The answer to `ropewalk.rename`.
---@class ropewalk.SessionName
---@field session string The session.
---@field title string Its name now.

--- The answer to `ropewalk.delete`.
---@class ropewalk.DeletedSession
---@field session string The session that is gone.
---@field title string Its name; empty if it had none.
---@field pending integer How many changes had waited for review in it.

--- The answer to `ropewalk.tasks`.
---@class ropewalk.TaskPage
---@field tasks ropewalk.BoardTask[] The tasks, by number.
---@field more boolean True if there is another page.

--- A team and its members.
---@class ropewalk.TeamRoster
---@field team string The team's name.
---@field members ropewalk.TeamMember[] The members as they are now, the lead first.

--- A message to the lead of a team.
---@class ropewalk.TeamMessage
---@field number integer Its number on the board.
---@field from string The member that sent it, or `board`.
---@field kind string One word for its kind, such as `message`, `plan` or `task_failed`.
---@field request? integer The number of the request in it, such as a plan that waits for an answer. Null without one.
---@field body string Its text.

--- The answer to `ropewalk.trust`.
---@class ropewalk.TrustOutcome
---@field root? string The folder that was answered about.
---@field forgotten? integer How many answers were forgotten.

--- The answer to `ropewalk/hunk`: the texts of a change, whole.
---@class ropewalk.HunkTexts
---@field old string The lines as they are.
---@field new string The lines as they would be.
---@field diff string A unified diff with the lines around it.

--- The answer to `ropewalk/document`.
---@class ropewalk.ProposedDocument
---@field text? string Its text with all proposed changes; null if there would be no such file, or none of text.

--- The answer to `ropewalk/history`.
---@class ropewalk.SessionHistory
---@field session string The session.
---@field turns ropewalk.HistoryTurn[] Finished turns, the oldest first.
---@field more boolean True if there are turns before these.

--- A turn that has ended.
---@class ropewalk.HistoryTurn
---@field turn integer Its number.
---@field at integer When it began, in milliseconds since 1970.
---@field prompt string The words it began with.
---@field stopReason ropewalk.StopReason Why it ended.
---@field usage ropewalk.Tokens Tokens that it used.
---@field events ropewalk.SessionEvent[] Its events as they were told, each step's words and thoughts in one delta, and of outputs the previews alone.

--- The answer to `ropewalk/result`.
---@class ropewalk.CallResult
---@field text string Text that the model got, whole.
---@field isError boolean True if the call failed.

--- The answer to `ropewalk/complete`.
---@class ropewalk.Completions
---@field start integer Where the text begins that an item takes the place of, up to the cursor.
---@field items ropewalk.Completion[] Completions, the best first.

--- Something that can be completed in a prompt.
---@class ropewalk.Completion
---@field text string The text that is put in, with its `@` or `/`.
---@field kind ropewalk.CompletionKind Its kind.
---@field detail string A few words on it; empty for a file.

--- Kinds of completions.
---@alias ropewalk.CompletionKind "file"|"command"|"prompt"|"skill"

--- `ropewalk/diagnostics`.
---@class ropewalk.DiagnosticsRequest
---@field uri? string The document; null for all.

--- `ropewalk/symbols`.
---@class ropewalk.SymbolsRequest
---@field query string A part of the names that are looked for; empty for all of a document.
---@field uri? string The document; null for the whole workspace.

--- `ropewalk/definition` and `ropewalk/references`.
---@class ropewalk.PlaceRequest
---@field uri string The document, which need not be open.
---@field version? integer The version that the position is of; null if the document is not open.
---@field position ropewalk.TextPosition A position in the name that is asked about.

---@class ropewalk.Reply2
---@field turn any[]

---@class ropewalk.Reply3
---@field unqueued string

---@class ropewalk.Reply4
---@field rewinding any[]

---@class ropewalk.Reply5
---@field status ropewalk.Status

---@class ropewalk.Reply6
---@field begun any[]

---@class ropewalk.Reply7
---@field resumed ropewalk.ResumedSession

---@class ropewalk.Reply8
---@field closed? ropewalk.LeftSession

---@class ropewalk.Reply9
---@field sessions ropewalk.SessionInfo[]

---@class ropewalk.Reply10
---@field renamed any[]

---@class ropewalk.Reply11
---@field deleted ropewalk.SessionInfo

---@class ropewalk.Reply12
---@field file string

---@class ropewalk.Reply13
---@field answered string

---@class ropewalk.Reply14
---@field forgotten integer

---@class ropewalk.Reply15
---@field tasks ropewalk.Reply15.tasks

---@class ropewalk.Reply16
---@field team ropewalk.TeamRoster

---@class ropewalk.Reply17
---@field inbox ropewalk.TeamMessage[]

--- An answer to a [`Request`](crate::Request) that was taken.
---@alias ropewalk.Reply "taken"|ropewalk.Reply2|ropewalk.Reply3|ropewalk.Reply4|ropewalk.Reply5|ropewalk.Reply6|ropewalk.Reply7|ropewalk.Reply8|ropewalk.Reply9|ropewalk.Reply10|ropewalk.Reply11|ropewalk.Reply12|ropewalk.Reply13|ropewalk.Reply14|ropewalk.Reply15|ropewalk.Reply16|ropewalk.Reply17

--- A session that was left.
---@class ropewalk.LeftSession
---@field title string Its name; empty while it has none.
---@field pending integer How many changes stay in it.

--- A session that goes on.
---@class ropewalk.ResumedSession
---@field session string Its id.
---@field title string Its name; empty while it has none.
---@field at integer When something last happened in it, in milliseconds since 1970.
---@field turns integer How many turns it has had.
---@field pending integer How many changes wait for review.
---@field lost string[] Changes that could not be brought back, in words.
---@field waiting string[] Words of the user that were not taken up before it ended.
---@field problems string[] Faults of its journal, in words.
---@field left? ropewalk.LeftSession The session that was left for it.

--- A session has begun, or goes on, and is the current one: the first event of each.
---@class ropewalk.SessionStartedEvent
---@field type "session_started"
---@field title string Its name; empty while it has none.
---@field turns integer How many turns it has had.
---@field mode ropewalk.Mode Its mode.
---@field model? string Its model; null where none is usable.
---@field context? integer Tokens that the model takes; null where that is not known.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- It has another name.
---@class ropewalk.SessionRenamedEvent
---@field type "session_renamed"
---@field title string The name.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The words and the edits of this turn and of all after it were taken back; `prompt` is what it had begun with.
---@class ropewalk.RewoundEvent
---@field type "rewound"
---@field turn integer The turn.
---@field prompt string The words it had begun with, for the user to say it another way.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A turn has begun. Turns are numbered from 1.
---@class ropewalk.TurnStartedEvent
---@field type "turn_started"
---@field turn integer Its number in the session, from one.
---@field prompt string The user's words.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A prompt waits until the running turn, or the compaction between two, has ended.
---@class ropewalk.QueuedEvent
---@field type "queued"
---@field turn integer The turn it will be.
---@field prompt string The user's words.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The model is asked; steps are numbered from 1 in each turn.
---@class ropewalk.StepStartedEvent
---@field type "step_started"
---@field turn integer The turn.
---@field step integer Its number in the turn, from one.
---@field message string The id of the message that the model answers with.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- Words of the user to the running turn have joined it.
---@class ropewalk.SteeredEvent
---@field type "steered"
---@field turn integer The turn.
---@field text string Their words.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A piece of the model's words.
---@class ropewalk.TextDeltaEvent
---@field type "text_delta"
---@field turn integer The turn.
---@field message string The id of its message.
---@field text string A piece of its words.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A piece of its thoughts.
---@class ropewalk.ThinkingDeltaEvent
---@field type "thinking_delta"
---@field turn integer The turn.
---@field message string The id of its message.
---@field text string A piece of its thoughts.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The model's server failed and is asked again: what this step has said so far is void.
---@class ropewalk.RetryingEvent
---@field type "retrying"
---@field turn integer The turn.
---@field attempt integer Which try comes next, from two.
---@field waitMs integer How long it waits first, in milliseconds.
---@field reason string Why.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- Nothing of the reply has come from the model's server for so long, before its first words or between two; told a few times while it lasts. `isQueued`: it was not asked yet, since other requests are before this one.
---@class ropewalk.WaitingEvent
---@field type "waiting"
---@field turn integer The turn.
---@field waitedMs integer How long it has been, in milliseconds.
---@field isQueued boolean True if other requests of ours are before this one, so that it was not sent yet.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A tool call begins; `call` is its id.
---@class ropewalk.ToolCallEvent
---@field type "tool_call"
---@field turn integer The turn.
---@field call string The call's id.
---@field tool string The tool.
---@field title string The subject of the call, short.
---@field input any Its input.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A running command says something: a piece every 50 ms at most, without escape sequences, and no more than a megabyte of each call. One in the background goes on after the call has its result.
---@class ropewalk.ToolOutputEvent
---@field type "tool_output"
---@field turn integer The turn.
---@field call string The call's id.
---@field text string A piece of its output.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The look at what is done before a turn ends: `todos` that are open, new `errors` in the editor, and the end of what `verify` printed if it failed. The model may be sent back, after which comes another. `verify` is seen as a call of that name while it runs.
---@class ropewalk.CheckEvent
---@field type "check"
---@field turn integer The turn.
---@field round integer Its number in the turn, from one.
---@field todos integer How many todos are open that the turn has changed.
---@field errors string[] New errors in the editor, one a line, in files that the turn has changed there.
---@field verify? string The end of what `verify` printed, if it failed; else null.
---@field passed boolean True if nothing was found.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A call has its result, of which this is the start. `secret` is the name in the call that may hold secrets, if it ran: mark what is kept of it. Else null. `ran` says where its command ran: over the `fork`, on a `copy`, or in `place`. Null if it ran none.
---@class ropewalk.ToolResultEvent
---@field type "tool_result"
---@field turn integer The turn.
---@field call string The call's id.
---@field isError boolean True if it failed.
---@field preview string The start of the result.
---@field secret? string The name in the call that may hold secrets, if it ran: what it gave may hold them too.
---@field ran? ropewalk.CommandPlace Where its command ran: `fork`, `copy` or `place`. Null if it ran none.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A call waits, for as long as it takes; see Approvals below.
---@class ropewalk.ApprovalRequestedEvent
---@field type "approval_requested"
---@field turn integer The turn.
---@field approval integer The approval's id.
---@field call string The call's id.
---@field agent? string The subagent that asks, by its type and its task, as in `explore, find auth files`. Null where the session's own call waits.
---@field tool string The tool.
---@field detail string The whole command, or what the call is about. What would drive a terminal or turn writing around in it, as in the other words here, is a picture or `�`.
---@field reason string Why the user is asked.
---@field rule? string The rule that "for this session" and "always" would add, with what it gives a command in the sandbox behind it (`with network, /srv/data`, or `with nothing`). Null where no rule can stand for the call.
---@field ruleWords? string The calls that the rule lets run, in words on one line, to be shown before it is taken. Null where there is no rule.
---@field always boolean True if the rule can be kept for always.
---@field unseen string[] Files whose unsaved or unpublished text the call won't see, where commands run in place.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- It waits no more: `allowed`, `refused`, `waiting for save` or `interrupted`.
---@class ropewalk.ApprovalResolvedEvent
---@field type "approval_resolved"
---@field turn integer The turn.
---@field approval integer The approval's id.
---@field how ropewalk.Resolution How it ended.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- All pending hunks as they are now, in the order of files and lines; see Hunks below.
---@class ropewalk.HunksEvent
---@field type "hunks"
---@field hunks ropewalk.HunkInfo[] In the order of files and lines.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- Changes are in the user's text, in every mode: the editor has shown that it made them, or the file is written. `ropewalk.undo` takes each back by its id.
---@class ropewalk.PublishedEvent
---@field type "published"
---@field turn integer The turn that has made them.
---@field changes ropewalk.PublishedHunk[] The changes, in the order of files and lines; see Published changes below.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The user has typed into a proposed change, or the file has moved on under it: it waits no more, and the text stays as it is.
---@class ropewalk.SetAsideEvent
---@field type "set_aside"
---@field file string The path as it is shown.
---@field uri string The document's URI.
---@field old string The text that the change was made for.
---@field new string The text that was proposed.
---@field now string The text that stands there now.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The outcome of an `accept`, `reject`, `edit`, `undo` or `rewind`: how many hunks, and what could not be done, in words.
---@class ropewalk.ReviewedEvent
---@field type "reviewed"
---@field action ropewalk.ReviewAction The kind of review that was asked for.
---@field done integer How many hunks it was done for.
---@field failed string[] Failures, in words.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The todos of the session are these now, `done` of them completed. Also told after `session_started` if there are any, and after `rewound` if there were others.
---@class ropewalk.TodosEvent
---@field type "todos"
---@field turn integer The turn that has changed them, or the last one.
---@field todos ropewalk.Todo[] All of them, each with `content` and `status`: `pending`, `in_progress` or `completed`.
---@field done integer How many are completed.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- Tokens of the last step, of the turn so far, and of the session, with what they cost; see Tokens below.
---@class ropewalk.UsageEvent
---@field type "usage"
---@field turn integer The turn.
---@field step ropewalk.Tokens By the last step.
---@field inTurn ropewalk.Tokens By the turn so far.
---@field total ropewalk.Tokens By the session so far. (Not called `session`: its id stands beside these fields.)
---@field context ropewalk.ContextUse How full the model's context is.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The conversation is about to be compacted: its beginning is summed up, which takes the model a while. `why` is `full`, `asked` or `refused`.
---@class ropewalk.CompactingEvent
---@field type "compacting"
---@field turn integer The turn, or the last one if none runs.
---@field why ropewalk.CompactionCause Why.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- It was compacted: what the model remembers of its beginning is the summary.
---@class ropewalk.CompactedEvent
---@field type "compacted"
---@field turn integer The turn.
---@field before integer Tokens of a request before, by estimate.
---@field after integer Tokens of one afterwards.
---@field by string The model that has summed up, or `ropewalk` where it is a list of the calls.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A subagent begins or ends, whose id is the `thread` beside this event.
---@class ropewalk.ThreadEvent
---@field type "thread"
---@field turn integer The turn.
---@field call string The id of the call that has started it.
---@field agent string Its type, such as `explore`.
---@field description string Its task in a few words.
---@field state ropewalk.ThreadState How far it is: `started` or `ended`.
---@field steps integer The steps it took.
---@field usage ropewalk.Tokens Tokens that it used.
---@field changed string[] The files in which its changes have come back.
---@field conflicts string[] The files in which some of them had lost their place.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The members of the team are these now, with `name`, `role`, `state` (`working`, `idle`, `shutdown`, `gone`), `task`, `tokens` and `cents`.
---@class ropewalk.TeamEvent
---@field type "team"
---@field members ropewalk.TeamMember[] All of them, the lead first.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A task of the team's board stands so now: `status` is `pending`, `in_progress`, `completed`, `failed` or `cancelled`.
---@class ropewalk.BoardTaskEvent
---@field type "board_task"
---@field number integer Its number in the team.
---@field subject string Its subject, in one line.
---@field status ropewalk.BoardTaskStatus Its status.
---@field owner? string The member that works on it or has completed it. Null where nobody has.
---@field blockedBy integer[] The numbers of the tasks it still waits for.
---@field attempt integer How often it was begun.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- Something the user should know: `info`, `warning` or `error`.
---@class ropewalk.NoticeEvent
---@field type "notice"
---@field level ropewalk.Level How important it is.
---@field message string One sentence.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The mode is another.
---@class ropewalk.ModeChangedEvent
---@field type "mode_changed"
---@field mode ropewalk.Mode The mode now.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The model is another.
---@class ropewalk.ModelChangedEvent
---@field type "model_changed"
---@field model string Its name.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- A turn has ended: `end_turn`, `max_tokens`, `max_steps`, `budget`, `refusal`, `interrupted` or `error`; `message` says more, or is null.
---@class ropewalk.TurnEndedEvent
---@field type "turn_ended"
---@field turn integer The turn.
---@field stopReason ropewalk.StopReason Why.
---@field message? string Words about the end, unless it ended well.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- The configuration of the folder `root`, in `file` (a URI), asks for what only the user can grant: `enables` says it line by line, `question` in one paragraph, and `hash` stands for exactly that. Until it is trusted it is ignored. Of no session.
---@class ropewalk.TrustRequestedEvent
---@field type "trust_requested"
---@field root string The folder, links resolved.
---@field file string The URI of the file that asks.
---@field enables string[] The things it asks for, in words, one line each.
---@field hash string Of exactly that: an answer that names it is to nothing else.
---@field question string The question in words.
---@field session? string The session it is of, if it is of one.
---@field thread? string The subagent it is of, if it is of one.
---@field member? string The teammate whose it is. Absent for the lead's own, and without a team.

--- An event, told apart by its `type`.
---@alias ropewalk.SessionEvent ropewalk.SessionStartedEvent|ropewalk.SessionRenamedEvent|ropewalk.RewoundEvent|ropewalk.TurnStartedEvent|ropewalk.QueuedEvent|ropewalk.StepStartedEvent|ropewalk.SteeredEvent|ropewalk.TextDeltaEvent|ropewalk.ThinkingDeltaEvent|ropewalk.RetryingEvent|ropewalk.WaitingEvent|ropewalk.ToolCallEvent|ropewalk.ToolOutputEvent|ropewalk.CheckEvent|ropewalk.ToolResultEvent|ropewalk.ApprovalRequestedEvent|ropewalk.ApprovalResolvedEvent|ropewalk.HunksEvent|ropewalk.PublishedEvent|ropewalk.SetAsideEvent|ropewalk.ReviewedEvent|ropewalk.TodosEvent|ropewalk.UsageEvent|ropewalk.CompactingEvent|ropewalk.CompactedEvent|ropewalk.ThreadEvent|ropewalk.TeamEvent|ropewalk.BoardTaskEvent|ropewalk.NoticeEvent|ropewalk.ModeChangedEvent|ropewalk.ModelChangedEvent|ropewalk.TurnEndedEvent|ropewalk.TrustRequestedEvent

--- The types of `commands`, by their names.
-- ropewalk.prompt: ropewalk.PromptArgument -> ropewalk.PromptTurn
-- ropewalk.send: ropewalk.SendArgument -> ropewalk.PromptTurn
-- ropewalk.steer: ropewalk.SteerArgument -> nil
-- ropewalk.unqueue: ropewalk.UnqueueArgument -> ropewalk.UnqueuedPrompt
-- ropewalk.interrupt: ropewalk.InterruptArgument -> nil
-- ropewalk.accept: ropewalk.HunkChoice -> nil
-- ropewalk.reject: ropewalk.HunkChoice -> nil
-- ropewalk.edit: ropewalk.EditArgument -> nil
-- ropewalk.undo: ropewalk.HunkChoice -> nil
-- ropewalk.show: ropewalk.HunkArgument -> ropewalk.HunkDiff
-- ropewalk.next: ropewalk.NextArgument -> ropewalk.NextHunk|nil
-- ropewalk.approve: ropewalk.ApprovalArgument -> nil
-- ropewalk.rules: ropewalk.NoArgument -> ropewalk.CommandFile
-- ropewalk.mode: ropewalk.ModeArgument -> ropewalk.SessionMode
-- ropewalk.model: ropewalk.ModelArgument -> ropewalk.CommandModel
-- ropewalk.models: ropewalk.NoArgument -> ropewalk.ModelInfo[]
-- ropewalk.status: ropewalk.StatusArgument -> ropewalk.Status
-- ropewalk.new: ropewalk.NoArgument -> ropewalk.CommandSession
-- ropewalk.sessions: ropewalk.SessionsArgument -> ropewalk.SessionInfo[]
-- ropewalk.resume: ropewalk.ResumeArgument -> ropewalk.SessionSummary
-- ropewalk.rewind: ropewalk.RewindArgument -> ropewalk.RewoundTurn
-- ropewalk.compact: ropewalk.CompactArgument -> nil
-- ropewalk.rename: ropewalk.RenameArgument -> ropewalk.SessionName
-- ropewalk.delete: ropewalk.DeleteArgument -> ropewalk.DeletedSession
-- ropewalk.export: ropewalk.ExportArgument -> ropewalk.CommandFile
-- ropewalk.tasks: ropewalk.TasksArgument -> ropewalk.TaskPage
-- ropewalk.team: ropewalk.TeamArgument -> ropewalk.TeamRoster|nil
-- ropewalk.inbox: ropewalk.NoArgument -> ropewalk.TeamMessage[]
-- ropewalk.trust: ropewalk.TrustArgument -> ropewalk.TrustOutcome

--- The types of `requests`, by their names.
-- ropewalk/hunk: ropewalk.HunkArgument -> ropewalk.HunkTexts
-- ropewalk/document: ropewalk.DocumentName -> ropewalk.ProposedDocument
-- ropewalk/history: ropewalk.HistoryRequest -> ropewalk.SessionHistory
-- ropewalk/result: ropewalk.ResultRequest -> ropewalk.CallResult
-- ropewalk/complete: ropewalk.CompletionRequest -> ropewalk.Completions

--- The types of `clientRequests`, by their names.
-- ropewalk/save: ropewalk.DocumentName -> nil
-- ropewalk/diagnostics: ropewalk.DiagnosticsRequest -> ropewalk.DiagnosticLine[]
-- ropewalk/symbols: ropewalk.SymbolsRequest -> ropewalk.SymbolPlace[]
-- ropewalk/definition: ropewalk.PlaceRequest -> ropewalk.DocumentPlace[]
-- ropewalk/references: ropewalk.PlaceRequest -> ropewalk.DocumentPlace[]

return {}

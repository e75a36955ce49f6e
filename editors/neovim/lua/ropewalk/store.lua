---Events in, state out: the whole conversation as it is to be shown. It asks nobody and draws nothing, so recorded
---events lead to the same state anywhere (tests/editors/pages).
local M = {}

---@class ropewalk.Item a thing in the transcript; `kind` says which fields it has
---@field kind 'prompt'|'steer'|'text'|'thinking'|'call'|'thread'|'check'|'compacted'|'notice'|'set_aside'|'end'
---@field turn integer?
---@field pieces string[]? text, thinking: what came, in order; call: what it prints
---@field parent ropewalk.Item? the subagent it belongs to

---@class ropewalk.State
---@field session string?
---@field title string
---@field mode string?
---@field model string?
---@field items ropewalk.Item[]
---@field running { turn: integer, prompt: string }?
---@field queued { turn: integer, prompt: string }[]
---@field approvals table[] the oldest first
---@field hunks table[] in the order of files and lines
---@field fresh table[] changes published since the last turn began
---@field plan { content: string, status: string }[]
---@field team table[] the members of the session's team
---@field board table<integer, table> the tasks of the team's board, by their numbers
---@field teammates table<string, ropewalk.State> the conversations of teammates, by their sessions
---@field member string? the teammate whose conversation this is; nil for the user's own
---@field trust table? what a folder asks for
---@field usage table? tokens and cost of the session
---@field context { used: integer, size: integer? }?
---@field note string? why nothing comes at the moment
---@field is_loading boolean? true while earlier turns are asked for
---@field is_summing boolean? true while a compaction runs between turns
---@field touched ropewalk.Item[] changed or new since the last `drain`
---@field generation integer another one when items have gone or moved

---@return ropewalk.State
function M.new()
  return {
    title = '', items = {}, calls = {}, threads = {}, messages = {}, queued = {}, approvals = {}, hunks = {},
    fresh = {}, plan = {}, team = {}, board = {}, teammates = {}, touched = {}, generation = 0,
  }
end

local function touch(state, item)
  item = item.parent or item
  if state.touched[#state.touched] ~= item then
    state.touched[#state.touched + 1] = item
  end
end

---The list that an event's items belong to: that of its subagent, else the session's.
local function place(state, event)
  local parent = event.thread and state.threads[event.thread]
  return parent and parent.items or state.items, parent
end

local function add(state, event, item)
  local items, parent = place(state, event)
  item.turn, item.parent = item.turn or event.turn, parent
  items[#items + 1] = item
  touch(state, item)
  return item
end

---Appends a piece to the words that are being said.
local function say(state, event, kind)
  local items = place(state, event)
  local last = items[#items]
  if not (last and last.kind == kind and last.message == event.message and last.turn == event.turn) then
    last = add(state, event, { kind = kind, message = event.message, pieces = {} })
  end
  last.pieces[#last.pieces + 1] = event.text
  touch(state, last)
end

---Keeps what `keep` is true for.
local function filter(state, items, keep)
  local kept = vim.tbl_filter(keep, items)
  if #kept < #items then
    state.generation = state.generation + 1
  end
  return kept
end

local function without(list, field, value)
  return vim.tbl_filter(function(entry)
    return entry[field] ~= value
  end, list)
end

---Ends the calls of a turn that has no results for them, those of its subagents too.
local function stop_calls(state, items)
  for _, item in ipairs(items) do
    if item.kind == 'call' and (item.state == 'running' or item.state == 'asks') then
      item.state = 'stopped'
      touch(state, item)
    elseif item.kind == 'thread' then
      if item.state == 'started' then
        item.state = 'ended'
        touch(state, item)
      end
      stop_calls(state, item.items)
    end
  end
end

local function call_of(state, event)
  return state.calls[(event.thread or '') .. '\0' .. event.call]
end

---Ends a compaction between turns. One that failed or was stopped is told by a notice alone.
local function stop_summing(state)
  if state.is_summing then
    state.is_summing, state.note = nil, nil
  end
end

local on = {}

---The plugin's own: the server has ended, so nothing runs or waits for an answer any more.
function on.disconnected(state)
  if state.running then
    on.turn_ended(state, { turn = state.running.turn, stopReason = 'interrupted' })
  end
  stop_summing(state)
  state.approvals, state.queued, state.is_loading = {}, {}, nil
  for _, own in pairs(state.teammates) do
    on.disconnected(own)
  end
end

function on.session_started(state, event)
  if event.session ~= state.session then
    local fresh = M.new()
    fresh.generation, fresh.trust = state.generation + 1, state.trust
    -- Teammates ask on, whichever conversation is shown.
    fresh.approvals = vim.tbl_filter(function(asked) return asked.member end, state.approvals)
    for key in pairs(state) do
      state[key] = fresh[key]
    end
    for key, value in pairs(fresh) do
      state[key] = value
    end
  else
    on.disconnected(state)
  end
  state.session, state.title, state.turns = event.session, event.title or '', event.turns or 0
  state.mode, state.model = event.mode or state.mode, event.model or state.model
  state.context = { used = (state.context or {}).used or 0, size = event.context }
  state.queued, state.hunks, state.plan, state.team, state.board = {}, {}, {}, {}, {}
end

function on.session_renamed(state, event)
  state.title = event.title
end

function on.rewound(state, event)
  local function before(item)
    return not item.turn or item.turn < event.turn
  end
  state.items = filter(state, state.items, before)
end

function on.turn_started(state, event)
  state.queued = without(state.queued, 'turn', event.turn)
  state.running = { turn = event.turn, prompt = event.prompt }
  state.fresh, state.note, state.is_summing = {}, nil, nil
  add(state, event, { kind = 'prompt', text = event.prompt, to = state.member })
end

function on.queued(state, event)
  state.queued = without(state.queued, 'turn', event.turn)
  table.insert(state.queued, { turn = event.turn, prompt = event.prompt })
end

function on.unqueued(state, event)
  state.queued = without(state.queued, 'turn', event.turn)
end

function on.step_started(state, event)
  state.note = nil
  state.messages[event.thread or ''] = event.message
end

function on.steered(state, event)
  add(state, event, { kind = 'steer', text = event.text })
end

function on.text_delta(state, event)
  state.note = nil
  say(state, event, 'text')
end

function on.thinking_delta(state, event)
  state.note = nil
  say(state, event, 'thinking')
end

function on.retrying(state, event)
  local items, parent = place(state, event)
  local message = state.messages[event.thread or '']
  while #items > 0 and items[#items].message and items[#items].message == message do
    items[#items] = nil
    state.generation = state.generation + 1
  end
  if parent then
    touch(state, parent)
  end
  local wait = event.waitMs >= 1000 and (' in %d s'):format(math.ceil(event.waitMs / 1000)) or ''
  state.note = ('try %d%s: %s'):format(event.attempt, wait, event.reason)
end

function on.waiting(state, event)
  local seconds = math.floor(event.waitedMs / 1000)
  state.note = event.isQueued and ('waits for other requests · %d s'):format(seconds)
    or ('no answer from the model for %d s'):format(seconds)
end

function on.tool_call(state, event)
  local item = add(state, event, {
    kind = 'call', call = event.call, tool = event.tool, title = event.title, input = event.input,
    state = 'running', pieces = {},
  })
  state.calls[(event.thread or '') .. '\0' .. event.call] = item
end

function on.tool_output(state, event)
  local item = call_of(state, event)
  if item then
    item.pieces[#item.pieces + 1] = event.text
    touch(state, item)
  end
end

function on.tool_result(state, event)
  local item = call_of(state, event)
  if item then
    item.state = event.isError and 'failed' or 'done'
    item.preview, item.ran, item.secret = event.preview, event.ran, event.secret
    touch(state, item)
  end
end

function on.check(state, event)
  add(state, event, {
    kind = 'check', round = event.round, passed = event.passed, todos = event.todos or {}, errors = event.errors or {},
    verify = event.verify,
  })
end

function on.approval_requested(state, event)
  table.insert(state.approvals, event)
  local item = call_of(state, event)
  if item then
    item.state = 'asks'
    touch(state, item)
  end
end

function on.approval_resolved(state, event)
  for _, asked in ipairs(state.approvals) do
    local item = asked.approval == event.approval and call_of(state, asked)
    if item and item.state == 'asks' then
      item.state = event.how == 'interrupted' and 'stopped' or 'running'
      touch(state, item)
    end
  end
  state.approvals = without(state.approvals, 'approval', event.approval)
end

function on.hunks(state, event)
  state.hunks = event.hunks
end

function on.published(state, event)
  vim.list_extend(state.fresh, event.changes)
end

function on.set_aside(state, event)
  add(state, event, {
    kind = 'set_aside', file = event.file, uri = event.uri, old = event.old, new = event.new, now = event.now,
  })
end

function on.reviewed(state, event)
  for _, words in ipairs(event.failed or {}) do
    add(state, event, { kind = 'notice', level = 'error', text = words })
  end
end

function on.todos(state, event)
  state.plan = event.todos
end

function on.usage(state, event)
  if not event.thread then
    state.usage, state.turn_usage = event.total, event.inTurn
    state.context = event.context or state.context
  end
end

function on.compacting(state, event)
  if not event.thread then
    state.note = 'sums up the conversation so far'
    state.is_summing = not state.running
  end
end

function on.compacted(state, event)
  state.note, state.is_summing = nil, nil
  add(state, event, { kind = 'compacted', before = event.before, after = event.after })
end

function on.thread(state, event)
  local item = state.threads[event.thread]
  if not item then
    item = add(state, { turn = event.turn }, {
      kind = 'thread', call = event.call, agent = event.agent, description = event.description, items = {},
    })
    state.threads[event.thread] = item
  end
  item.state, item.steps = event.state, event.steps
  item.changed, item.conflicts = event.changed, event.conflicts
  touch(state, item)
end

function on.notice(state, event)
  stop_summing(state)
  add(state, event, { kind = 'notice', level = event.level, text = event.message })
end

function on.mode_changed(state, event)
  state.mode = event.mode
end

function on.model_changed(state, event)
  state.model = event.model
  state.context = event.context and { used = (state.context or {}).used or 0, size = event.context } or state.context
end

function on.team(state, event)
  state.team = event.members
end

function on.board_task(state, event)
  state.board[event.number] = event
end

function on.trust_requested(state, event)
  state.trust = event
end

function on.turn_ended(state, event)
  if state.running and state.running.turn == event.turn then
    state.running, state.note = nil, nil
  end
  stop_calls(state, vim.tbl_filter(function(item)
    return item.turn == event.turn
  end, state.items))
  local usage = event.usage or state.turn_usage
  add(state, event, {
    kind = 'end', reason = event.stopReason, text = event.message, cost = usage and usage.cost, changes = #state.hunks,
  })
  state.turn_usage = nil
end

local function take(state, event)
  local run = on[event.type]
  local is_other = event.session and state.session and event.session ~= state.session
  if run and (event.type == 'session_started' or not is_other) then
    run(state, event)
  end
end

---The conversation of a teammate, begun where nothing of it is known yet.
---@param state ropewalk.State
---@param session string
---@param member string its name
---@return ropewalk.State
function M.teammate(state, session, member)
  local own = state.teammates[session]
  if not own then
    own = M.new()
    own.session, own.member = session, member
    state.teammates[session] = own
  end
  return own
end

---Takes an event of a teammate into its own conversation. What it asks waits beside the session's own questions.
local function of_teammate(state, event)
  take(M.teammate(state, event.session, event.member), event)
  if event.type == 'approval_requested' then
    table.insert(state.approvals, event)
  elseif event.type == 'approval_resolved' then
    state.approvals = without(state.approvals, 'approval', event.approval)
  elseif event.type == 'turn_ended' and not event.thread then
    state.approvals = vim.tbl_filter(function(asked)
      return not asked.member or asked.session ~= event.session
    end, state.approvals)
  end
end

---Takes one event.
---@param state ropewalk.State
---@param event table the params of `ropewalk/event`
function M.apply(state, event)
  if event.member then
    return of_teammate(state, event)
  end
  take(state, event)
end

---Puts finished turns before what is there.
---@param state ropewalk.State
---@param turns ropewalk.HistoryTurn[]
---@param has_more boolean? true if there are turns before them
function M.prepend(state, turns, has_more)
  local past = M.new()
  for _, turn in ipairs(turns) do
    take(past, { type = 'turn_started', turn = turn.turn, prompt = turn.prompt })
    for _, event in ipairs(turn.events) do
      if event.type ~= 'turn_started' and event.type ~= 'turn_ended' then
        take(past, event)
      end
    end
    take(past, { type = 'turn_ended', turn = turn.turn, stopReason = turn.stopReason, usage = turn.usage })
  end
  if state.items[1] and state.items[1].kind == 'more' then
    table.remove(state.items, 1)
  end
  if has_more and turns[1] then
    table.insert(past.items, 1, { kind = 'more', before = turns[1].turn })
  end
  state.items = vim.list_extend(past.items, state.items)
  state.calls = vim.tbl_extend('keep', state.calls, past.calls)
  state.threads = vim.tbl_extend('keep', state.threads, past.threads)
  state.generation = state.generation + 1
end

---The number of the turn before which nothing is known of a conversation though something was said; nil where all is.
---@param state ropewalk.State
---@return integer?
function M.missing_before(state)
  local first = vim.iter(state.items):find(function(item) return item.turn end)
  if first then
    local is_offered = state.items[1].kind == 'more'
    return not is_offered and first.turn > 1 and first.turn or nil
  end
  return (state.turns or 0) > 0 and state.turns + 1 or nil
end

---The items that are new or other since the last time, each once.
---@param state ropewalk.State
---@return ropewalk.Item[]
function M.drain(state)
  local seen, touched = {}, {}
  for _, item in ipairs(state.touched) do
    if not seen[item] then
      seen[item], touched[#touched + 1] = true, item
    end
  end
  state.touched = {}
  return touched
end

return M

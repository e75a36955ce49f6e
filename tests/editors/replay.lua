-- Replays pages in the store of the Neovim plugin: `nvim --headless -u NONE -l replay.lua [PAGE…]`.
-- Ends with 1 and the first difference where a page leads to something else; README.md says what a page is.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.joinpath(here, '../../editors/neovim'))
local store = require('ropewalk.store')

---Items of a transcript in the form of the pages.
local function items_of(items)
  local shown = {}
  for _, item in ipairs(items) do
    local plain = { kind = item.kind, turn = item.turn }
    if item.kind == 'text' or item.kind == 'thinking' then
      plain.text = table.concat(item.pieces)
    elseif item.kind == 'call' then
      plain.call, plain.tool, plain.state, plain.output = item.call, item.tool, item.state, table.concat(item.pieces)
    elseif item.kind == 'thread' then
      plain.call, plain.state, plain.items = item.call, item.state, items_of(item.items)
    elseif item.kind == 'notice' then
      plain.level, plain.text = item.level, item.text
    elseif item.kind == 'end' then
      plain.reason = item.reason
    elseif item.kind == 'compacted' then
      plain.turn = nil
    else
      plain.text, plain.passed, plain.file = item.text, item.passed, item.file
    end
    shown[#shown + 1] = plain.kind ~= 'more' and plain or nil
  end
  return shown
end

local function picked(list, ...)
  local names = { ... }
  return vim.tbl_map(function(entry)
    local plain = {}
    for _, name in ipairs(names) do
      plain[name] = entry[name]
    end
    return plain
  end, list)
end

---The tasks of the board by their numbers.
local function board_of(state)
  local numbers = vim.tbl_keys(state.board)
  table.sort(numbers)
  local tasks = vim.tbl_map(function(number) return state.board[number] end, numbers)
  return picked(tasks, 'number', 'subject', 'status', 'owner')
end

---The transcripts of teammates by their sessions.
local function teammates_of(state)
  local shown = vim.empty_dict()
  for session, own in pairs(state.teammates) do
    shown[session] = items_of(own.items)
  end
  return shown
end

---What the store holds, in the form of the pages.
local function shown(state)
  return {
    transcript = items_of(state.items), plan = picked(state.plan, 'content', 'status'),
    changes = picked(state.hunks, 'id', 'file', 'kind'), published = picked(state.fresh, 'hunk', 'file'),
    approvals = vim.tbl_map(function(asked) return asked.approval end, state.approvals), queued = state.queued,
    running = state.running and state.running.turn or vim.NIL, session = state.session or vim.NIL, title = state.title,
    mode = state.mode or vim.NIL, model = state.model or vim.NIL, cost = state.usage and state.usage.cost or vim.NIL,
    team = picked(state.team, 'name', 'state', 'task', 'session'), board = board_of(state),
    teammates = teammates_of(state),
    summing = state.note == 'sums up the conversation so far',
  }
end

local function replay(page)
  local state, events, expected = store.new(), 0, 0
  for number, line in ipairs(vim.fn.readfile(page)) do
    local entry = vim.json.decode(line, { luanil = { object = true } })
    if entry.event then
      events = events + 1
      store.apply(state, entry.event)
    elseif entry.history then
      store.prepend(state, entry.history)
    end
    local now = shown(state)
    for field in pairs(entry.expect or {}) do
      expected = expected + 1
      local wanted = vim.json.decode(line).expect[field]
      if not vim.deep_equal(wanted, now[field]) then
        error(('%s:%d: %s\nwanted %s\nis     %s'):format(page, number, field, vim.inspect(wanted), vim.inspect(now[field])), 0)
      end
    end
  end
  assert(events > 0 and expected > 0, page .. ' tests nothing')
  return events, expected
end

local pages = #arg > 0 and arg or vim.fn.glob(vim.fs.joinpath(here, 'pages/*.jsonl'), true, true)
assert(#pages > 0, 'no pages')
for _, page in ipairs(pages) do
  local events, expected = replay(page)
  print(('%s: %d events, %d looks'):format(vim.fs.basename(page), events, expected))
end

---Items of the conversation as lines. It knows no window; `view` puts the lines into a buffer.
local text = require('ropewalk.text')

local M = {}

---Lines of a call's output that are shown in place.
local MOST_OUTPUT = 400
---Cells above which a call's title is cut.
local MOST_TITLE = 160

---@class ropewalk.Line
---@field [1] string
---@field group string? of the whole line
---@field icon string? group of its first character
---@field note string? words behind it, which are no text of the buffer

local ICONS = { running = '…', asks = '?', done = '✓', failed = '✗', stopped = '■' }
local ICON_GROUPS = {
  running = 'RopewalkInfo', asks = 'RopewalkWarning', done = 'RopewalkGood', failed = 'RopewalkBad', stopped = 'RopewalkWarning',
}
local RAN = { fork = 'with your unsaved text and all proposed changes', copy = 'on a copy of your files', place = 'in your files' }

local of = {}

---Words that were said to the model, behind who said them.
local function said(who, words)
  local shown, indent = {}, (' '):rep(vim.fn.strdisplaywidth(who))
  for number, line in ipairs(text.lines(words)) do
    shown[number] = { (number == 1 and who or indent) .. line, group = 'RopewalkPrompt' }
  end
  return shown
end

function of.prompt(item)
  -- A teammate is asked by its team, too.
  local who = item.to and ('To %s  '):format(text.line(item.to)) or 'You  '
  local shown = said(who, item.to and item.text:gsub('</?auto%-claimed>', '') or item.text)
  shown[1].note = item.turn and 'turn ' .. item.turn or nil
  return shown
end

function of.steer(item)
  local shown = said('You  ', item.text)
  shown[1].note = 'joined the turn'
  return shown
end

function of.thinking(item, is_open)
  local words = table.concat(item.pieces)
  if not is_open then
    return { { '∴ ' .. text.clip(text.line(vim.trim(words)), 60), group = 'RopewalkThinking' } }
  end
  local shown = {}
  for number, line in ipairs(text.lines(vim.trim(words))) do
    shown[number] = { (number == 1 and '∴ ' or '  ') .. line, group = 'RopewalkThinking' }
  end
  return shown
end

---What a call has printed, its end where it is long.
local function output_of(item)
  local words = table.concat(item.pieces)
  words = words ~= '' and words or item.preview or ''
  local lines = text.lines((words:gsub('\n+$', '')))
  local shown = {}
  local from = math.max(1, #lines - MOST_OUTPUT + 1)
  if from > 1 then
    shown[1] = { ('  │ … %d lines before · K shows all'):format(from - 1), group = 'RopewalkHint' }
  end
  for number = from, #lines do
    shown[#shown + 1] = { '  │ ' .. lines[number], group = 'RopewalkCall' }
  end
  return shown
end

---The name of a call on one line. A title says the tool already, or is all that is known.
local function title_of(item)
  local title = text.line(item.title or '')
  if title == '' or not vim.startswith(title, item.tool) then
    title = vim.trim(item.tool .. ' ' .. title)
  end
  return text.clip(title, MOST_TITLE)
end

function of.call(item, is_open)
  local state = ICONS[item.state] and item.state or 'done'
  local shown = { { ('%s %s'):format(ICONS[state], title_of(item)), icon = ICON_GROUPS[state] } }
  shown[1].note = item.ran and RAN[item.ran] or item.state == 'asks' and 'asks you' or item.state == 'stopped' and 'stopped' or nil
  if not is_open then
    return shown
  end
  local command = type(item.input) == 'table' and item.input.command
  for _, line in ipairs(type(command) == 'string' and text.lines(command) or {}) do
    shown[#shown + 1] = { '  $ ' .. line, group = 'RopewalkCall' }
  end
  return vim.list_extend(shown, output_of(item))
end

function of.thread(item, is_open)
  local words = text.line(vim.trim((item.agent or '') .. ' · ' .. (item.description or '')))
  local is_running = item.state == 'started'
  local shown = { { (is_running and '… ' or '✓ ') .. words, icon = is_running and 'RopewalkInfo' or 'RopewalkGood' } }
  shown[1].note = item.steps and item.steps > 0 and text.count(item.steps, 'step', 'steps') or nil
  local nested = vim.tbl_filter(function(one)
    return is_open or one.kind == 'call'
  end, item.items)
  local from = is_open and 1 or is_running and math.max(1, #nested - 2) or #nested + 1
  for number = from, #nested do
    for _, line in ipairs(M.lines_of(nested[number], false)) do
      line[1], line.icon = '  │ ' .. line[1], nil
      line.group = line.group or 'RopewalkCall'
      shown[#shown + 1] = line
    end
  end
  return shown
end

function of.text(item)
  return vim.tbl_map(function(line) return { line } end, text.lines(table.concat(item.pieces)))
end

function of.check(item)
  if item.passed then
    return { { '✓ Checked: nothing is left open', icon = 'RopewalkGood' } }
  end
  local open = {}
  if #item.todos > 0 then
    open[#open + 1] = text.count(#item.todos, 'todo is open', 'todos are open')
  end
  if #item.errors > 0 then
    open[#open + 1] = text.count(#item.errors, 'new error', 'new errors')
  end
  if item.verify then
    open[#open + 1] = 'the tests failed'
  end
  return { { '✗ Checked: ' .. table.concat(open, ', '), icon = 'RopewalkWarning' } }
end

function of.compacted(item)
  local words = '≡ The conversation so far is summed up'
  local note = item.before and item.after and ('%s → %s tokens'):format(text.tokens(item.before), text.tokens(item.after))
  return { { words, group = 'RopewalkHint', note = note } }
end

local LEVELS = { error = 'RopewalkBad', warning = 'RopewalkWarning', info = 'RopewalkInfo' }

function of.notice(item)
  local shown = {}
  for number, line in ipairs(text.lines(vim.trim(item.text))) do
    shown[number] = { (number == 1 and '● ' or '  ') .. line, icon = number == 1 and LEVELS[item.level] or nil }
  end
  return shown
end

function of.set_aside(item)
  return {
    { ('! You typed into a proposed change of %s: your text stays'):format(text.line(item.file)), icon = 'RopewalkWarning' },
    { '  ⏎ shows both · :Ropewalk again asks again', group = 'RopewalkHint' },
  }
end

local ENDS = {
  end_turn = 'Done', max_tokens = 'The answer was cut off', max_steps = 'Stopped at the limit of steps',
  budget = 'Stopped: the budget is used up', refusal = 'The model declined', interrupted = 'Stopped', error = 'Failed',
}

of['end'] = function(item)
  local parts = { ENDS[item.reason] or item.reason or 'Done' }
  if item.cost then
    parts[#parts + 1] = text.money(item.cost)
  end
  local is_bad = item.reason == 'error' or item.reason == 'refusal'
  local shown = { { '── ' .. table.concat(parts, ' · ') .. ' ──', group = is_bad and 'RopewalkBad' or 'RopewalkHint' } }
  for _, line in ipairs(item.text and text.lines(item.text) or {}) do
    shown[#shown + 1] = { '   ' .. line, group = is_bad and 'RopewalkBad' or 'RopewalkHint' }
  end
  return shown
end

function of.more()
  return { { '… ⏎ shows what was said before', group = 'RopewalkHint' } }
end

---@param item ropewalk.Item
---@param is_open boolean true if its details are shown in place
---@return ropewalk.Line[]
function M.lines_of(item, is_open)
  local make = of[item.kind]
  return make and make(item, is_open) or { { '' } }
end

---True if an empty line stands between two items.
---@param before ropewalk.Item?
---@param item ropewalk.Item
---@return boolean
function M.is_apart(before, item)
  if not before then
    return false
  end
  local talks = { prompt = true, steer = true, text = true }
  return item.kind == 'prompt' or (talks[before.kind] or talks[item.kind]) and item.kind ~= 'end' or false
end

return M

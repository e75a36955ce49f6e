---Words for status lines: what runs, what waits, what it costs.
local hub = require('ropewalk.hub')
local text = require('ropewalk.text')

local M = {}

---The name of the member that the user's own conversation leads.
M.LEAD = 'lead'

local began ---@type integer?
local timer = assert(vim.uv.new_timer())

---What runs now, in a few words.
---@param state ropewalk.State
---@return string?
function M.doing(state)
  if not state.running then
    return state.is_summing and state.note or nil
  end
  local words = state.note or 'thinking'
  local last = state.items[#state.items]
  if last and last.kind == 'call' and last.state == 'running' then
    words = text.line(last.title ~= '' and last.title or last.tool)
  elseif last and last.kind == 'text' and not state.note then
    words = 'answering'
  end
  -- How long a teammate's turn runs is not measured.
  local seconds = began and state == hub.state and math.floor((vim.uv.now() - began) / 1000) or 0
  return text.clip(words, 40) .. (seconds > 1 and ' · ' .. text.duration(seconds) or '')
end

---Who of the team does what, in a few words; nil without one.
---@param state ropewalk.State
---@return string?
function M.team(state)
  local parts = {}
  for _, member in ipairs(state.team) do
    if member.state == 'working' then
      parts[#parts + 1] = text.line(member.name) .. (member.task and ' #' .. member.task or '')
    end
  end
  return #parts > 0 and text.clip('Team: ' .. table.concat(parts, ', '), 40) or nil
end

---What a member of the team does, in a few words.
---@param member ropewalk.TeamMember
---@return string
function M.member(member)
  local task = member.task and hub.state.board[member.task]
  if task then
    return ('#%d %s'):format(task.number, text.line(task.subject))
  end
  local waits = member.name == M.LEAD and 'waits for you' or 'waits for work'
  local words = { working = 'works', idle = waits, shutdown = 'has ended', gone = 'is gone' }
  return words[member.state] or member.state
end

---The session's cost and how full its context is.
---@param state ropewalk.State
---@return string[]
function M.spent(state)
  local parts = {}
  if state.usage and state.usage.cost then
    parts[#parts + 1] = text.money(state.usage.cost)
  end
  local context = state.context
  if context and context.used > 0 and context.size and context.size > 0 then
    parts[#parts + 1] = ('context %d%%'):format(math.floor(100 * context.used / context.size + 0.5))
  end
  return parts
end

---@return string
function M.line()
  local state, parts = hub.state, {}
  if #state.approvals > 0 then
    local who = state.approvals[1].member and text.clip(text.line(state.approvals[1].member), 20) .. ' ' or ''
    parts[#parts + 1] = who .. 'asks: ' .. text.clip(text.line(state.approvals[1].detail), 30)
  else
    parts[#parts + 1] = M.doing(state)
  end
  if #state.hunks > 0 then
    parts[#parts + 1] = text.changes(state.hunks)
  end
  return #parts > 0 and 'Ropewalk: ' .. table.concat(parts, ' · ') or ''
end

local listeners = {} ---@type fun()[]

---Calls `run` whenever the words may be others.
---@param run fun()
function M.listen(run)
  listeners[#listeners + 1] = run
end

local function redraw()
  vim.schedule(function()
    vim.cmd.redrawstatus({ bang = true })
    for _, run in ipairs(listeners) do
      run()
    end
  end)
end

local QUIET = { text_delta = true, thinking_delta = true, tool_output = true, usage = true, teammate = true }

hub.listen(function(event, state)
  if event.type == 'turn_started' then
    began = vim.uv.now()
    timer:start(1000, 1000, redraw)
  elseif not state.running then
    timer:stop()
  end
  if not QUIET[event.type] then
    redraw()
  end
end)

return M

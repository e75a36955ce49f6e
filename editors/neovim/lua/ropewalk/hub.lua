---The one state of this Neovim, and who wants to hear of its changes.
local store = require('ropewalk.store')

local M = { state = store.new() }

---The session of the teammate whose conversation is looked at; nil for the user's own.
local looked_at ---@type string?

---@type fun(event: table, state: ropewalk.State)[]
local listeners = {}

---Calls `listener` after each event. Its errors are written to the log and stop nobody else.
---@param listener fun(event: table, state: ropewalk.State)
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

---@return ropewalk.State # the conversation that is looked at: a teammate's, else the user's own
function M.conversation()
  return looked_at and M.state.teammates[looked_at] or M.state
end

---Looks at the conversation of a member of the team, or at the user's own.
---@param member { name: string, session: string? }?
function M.look_at(member)
  looked_at = member and member.session or nil
  if looked_at then
    store.teammate(M.state, looked_at, member.name)
  end
  M.tell({ type = 'looked_at', session = looked_at })
end

---Takes an event of the server, or one of ours such as `disconnected`.
---@param event table
function M.take(event)
  store.apply(M.state, event)
  if event.type == 'session_started' and not event.member and not M.state.teammates[looked_at or ''] then
    looked_at = nil
  end
  if event.member and not vim.startswith(event.type, 'approval_') then
    -- The end of a turn takes its questions along; all else is news for those alone who look at the teammate.
    local is_end = event.type == 'turn_ended'
    event = { type = is_end and 'approval_resolved' or 'teammate', member = event.member, session = event.session }
  end
  M.tell(event)
end

---Calls the listeners.
---@param event table
function M.tell(event)
  for _, listener in ipairs(listeners) do
    local is_good, problem = xpcall(listener, debug.traceback, event, M.state)
    if not is_good then
      require('vim.lsp.log').error('ropewalk', problem)
    end
  end
end

---@param id integer
---@return table? hunk the pending change with this id
---@return integer? number its place among all
function M.hunk(id)
  for number, hunk in ipairs(M.state.hunks) do
    if hunk.id == id then
      return hunk, number
    end
  end
end

return M

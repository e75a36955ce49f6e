---The one state of this Neovim, and who wants to hear of its changes.
local store = require('ropewalk.store')

local M = { state = store.new() }

---@type fun(event: table, state: ropewalk.State)[]
local listeners = {}

---Calls `listener` after each event. Its errors are written to the log and stop nobody else.
---@param listener fun(event: table, state: ropewalk.State)
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

---Takes an event of the server, or one of ours such as `disconnected`.
---@param event table
function M.take(event)
  store.apply(M.state, event)
  -- Of teammates only questions are news, and the end of a turn that takes some along.
  local is_question = vim.startswith(event.type, 'approval_') or event.type == 'turn_ended'
  if event.member and not is_question then
    return
  elseif event.member and event.type == 'turn_ended' then
    event = { type = 'approval_resolved', member = event.member, session = event.session }
  end
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

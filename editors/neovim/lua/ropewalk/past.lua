---Turns of a session that this Neovim was not there for.
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local store = require('ropewalk.store')

local M = {}

---Turns that are asked for at once.
local PAGE = 20

---Puts the turns before one, or the last ones, in front of what is known of a conversation.
---@param state ropewalk.State
---@param before integer?
function M.load(state, before)
  local session = state.session
  if state.is_loading then
    return
  end
  state.is_loading = true
  client.request('ropewalk/history', { session = session, before = before, turns = PAGE }, function(problem, result)
    state.is_loading = nil
    if problem or not result or state.session ~= session then
      return
    end
    store.prepend(state, result.turns or {}, result.more)
    hub.tell({ type = 'history_loaded' })
  end)
end

hub.listen(function(event, state)
  if event.type == 'session_started' and (event.turns or 0) > 0 and #state.items == 0 then
    M.load(state)
  elseif event.type == 'looked_at' and event.session then
    local own = hub.conversation()
    local before = store.missing_before(own)
    if before then
      M.load(own, before)
    end
  end
end)

return M

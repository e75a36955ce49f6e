---Turns of a session that this Neovim was not there for.
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local store = require('ropewalk.store')

local M = {}

---Turns that are asked for at once.
local PAGE = 20

---Puts the turns before one, or the last ones, in front of what is known.
---@param before integer?
function M.load(before)
  local session = hub.state.session
  client.request('ropewalk/history', { session = session, before = before, turns = PAGE }, function(problem, result)
    if problem or not result or hub.state.session ~= session then
      return
    end
    store.prepend(hub.state, result.turns or {}, result.more)
    hub.take({ type = 'history_loaded' })
  end)
end

hub.listen(function(event, state)
  if event.type == 'session_started' and (event.turns or 0) > 0 and #state.items == 0 then
    M.load()
  end
end)

return M

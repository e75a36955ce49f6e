---What a user's configuration calls: settings, and words for a status line.
local M = {}

---Takes settings; see `:help ropewalk-settings`. Without a call the defaults count.
---@param settings ropewalk.Config?
function M.setup(settings)
  require('ropewalk.config').set(settings)
end

---What runs and what waits, for a status line; empty where there is nothing to say.
---@return string
function M.status()
  return package.loaded['ropewalk.status'] and require('ropewalk.status').line() or ''
end

return M

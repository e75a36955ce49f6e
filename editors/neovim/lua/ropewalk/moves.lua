---Lines of an earlier version of a buffer, where they stand now: the server tells of lines while the text goes on changing.
local M = {}

---Most changes that are kept of a buffer.
local MOST = 64

---@class ropewalk.BufferMoves
---@field since integer the oldest version whose lines are found
---@field changes { version: integer, first: integer, last: integer, new_last: integer }[] rows from zero, `last` not included

local moves = {} ---@type table<integer, ropewalk.BufferMoves>

local function begin(buffer)
  moves[buffer] = { since = vim.api.nvim_buf_get_changedtick(buffer), changes = {} }
end

---Notes from now on what changes in a buffer.
---@param buffer integer
function M.watch(buffer)
  if moves[buffer] then
    return
  end
  begin(buffer)
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, version, first, last, new_last)
      local own = moves[buffer]
      table.insert(own.changes, { version = version, first = first, last = last, new_last = new_last })
      if #own.changes > MOST then
        own.since = table.remove(own.changes, 1).version
      end
    end,
    on_reload = function() begin(buffer) end,
    on_detach = function() moves[buffer] = nil end,
  })
end

---Finds lines of a version in the text of now.
---@param buffer integer
---@param version integer
---@param range lsp.Range
---@return integer? first row from zero; nil where the lines have changed since, or that is not known
---@return integer? stop the row after the last one
function M.lines(buffer, version, range)
  local own, first, stop = moves[buffer], range.start.line, range['end'].line + 1
  if version == vim.lsp.util.buf_versions[buffer] then
    return first, stop
  elseif not own or version < own.since then
    return nil
  end
  for _, change in ipairs(own.changes) do
    if change.version > version and change.first < stop then
      if change.last > first then
        return nil
      end
      local by = change.new_last - change.last
      first, stop = first + by, stop + by
    end
  end
  return first, stop
end

return M

---Rows of an earlier version of a buffer, where they stand now: the server tells of lines while the text goes on changing.
local M = {}

---Most changes that are kept of a buffer.
local MOST = 256

---@class ropewalk.BufferMoves
---@field now integer the version of the text as it is
---@field changes { of: integer, first: integer, last: integer, new_last: integer }[] the version that each changed, and
--- its rows from zero, `last` not included

local moves = {} ---@type table<integer, ropewalk.BufferMoves>

---Notes from now on what changes in a buffer, whose text the server has as this version.
---@param buffer integer
---@param version integer
function M.opened(buffer, version)
  local is_watched = moves[buffer] ~= nil
  moves[buffer] = { now = version, changes = {} }
  if is_watched then
    return
  end
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, changed, first, last, new_last)
      local own = moves[buffer]
      table.insert(own.changes, { of = own.now, first = first, last = last, new_last = new_last })
      own.now = changed
      if #own.changes > MOST then
        table.remove(own.changes, 1)
      end
    end,
    on_reload = function() moves[buffer].changes = {} end,
    on_detach = function() moves[buffer] = nil end,
  })
end

---The number of the first change after a version; nil where that is not known. One version can come of several changes.
local function first_after(own, version)
  if version == own.now then
    return #own.changes + 1
  end
  for number = #own.changes, 1, -1 do
    if own.changes[number].of == version then
      return number
    end
  end
end

---Finds rows of a version in the text of now.
---@param buffer integer
---@param version integer
---@param first integer row from zero
---@param stop integer the row after the last one; `first` for a place between rows
---@return integer? first nil where the rows have changed since, or that is not known
---@return integer? stop
function M.rows(buffer, version, first, stop)
  local own = moves[buffer]
  local number = own and first_after(own, version)
  if not number then
    return nil
  end
  for at = number, #own.changes do
    local change = own.changes[at]
    if change.first < stop then
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

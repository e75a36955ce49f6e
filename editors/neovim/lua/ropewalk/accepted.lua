---Accepted changes, and where they stand now: marks that move with the text, so that each is found to be taken back.
local hub = require('ropewalk.hub')
local moves = require('ropewalk.moves')

local M = {}

local SPACE = vim.api.nvim_create_namespace('ropewalk.accepted')

---@class ropewalk.AcceptedChange
---@field hunk integer
---@field turn integer
---@field change ropewalk.PublishedHunk as it was told
---@field stamp any? says if the file of one that was not open is as it was when it was told
---@field buffer integer? the buffer in which it is marked; nil if it is in none, or the text had moved on when it was told
---@field mark integer?

local all = {} ---@type ropewalk.AcceptedChange[] the one told last is the last
local session ---@type string?

---When a file was last written, and how long it is.
local function stamp_of(uri)
  local stat = vim.startswith(uri, 'file:') and vim.uv.fs_stat(vim.uri_to_fname(uri))
  return stat and { stat.mtime, stat.size } or nil
end

---Marks a change at rows, the second not included.
local function mark(one, buffer, first, stop)
  local count = vim.api.nvim_buf_line_count(buffer)
  one.buffer = buffer
  one.mark = vim.api.nvim_buf_set_extmark(buffer, SPACE, math.min(first, count - 1), 0, {
    end_row = math.min(stop, count), end_col = 0, strict = false,
  })
end

local function unmark(one)
  if one.buffer and vim.api.nvim_buf_is_valid(one.buffer) then
    vim.api.nvim_buf_del_extmark(one.buffer, SPACE, one.mark)
  end
  one.buffer, one.mark = nil, nil
end

---Keeps the changes that `keep` is true for.
local function filter(keep)
  all = vim.tbl_filter(function(one)
    if not keep(one) then
      unmark(one)
      return false
    end
    return true
  end, all)
end

---The loaded buffer of a document, if there is one.
local function buffer_of(uri)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buffer)
    return vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_name(buffer) ~= '' and vim.uri_from_bufnr(buffer) == uri
  end)
end

local function take(change, turn)
  local one = { hunk = change.hunk, turn = turn, change = change }
  local buffer = change.range and buffer_of(change.uri)
  local first, stop
  if buffer and change.version then
    first, stop = moves.rows(buffer, change.version, change.range.start.line, change.range['end'].line + 1)
  end
  if first then
    mark(one, buffer, first, stop)
  elseif change.range and not buffer then
    one.stamp = stamp_of(change.uri)
  end
  all[#all + 1] = one
end

---@param row integer of the current buffer, from zero
---@return integer? # the newest of the changes that stand there
function M.at(row)
  local buffer = vim.api.nvim_get_current_buf()
  local found = vim.iter(all):rfind(function(one)
    if one.buffer ~= buffer then
      return false
    end
    local at = vim.api.nvim_buf_get_extmark_by_id(buffer, SPACE, one.mark, { details = true })
    if not at[1] then
      return false
    end
    -- The start of lines that were replaced whole moves to their end: what stands there now is before it.
    local end_row = at[3].end_row or at[1]
    local is_replaced = at[1] >= end_row
    return row >= (is_replaced and end_row - 1 or at[1]) and row <= (is_replaced and end_row or end_row - 1)
  end)
  return found and found.hunk
end

---@return ropewalk.AcceptedChange[]
function M.all()
  return all
end

---Forgets what was taken back: a change, or all of a turn; without either, of the turn whose changes came last.
---@param what { hunk: integer?, turn: integer? }
function M.forget(what)
  local turn = not what.hunk and (what.turn or all[#all] and all[#all].turn)
  filter(function(one) return one.hunk ~= what.hunk and one.turn ~= turn end)
end

hub.listen(function(event)
  if event.type == 'published' then
    vim.iter(event.changes):each(function(change) take(change, event.turn) end)
  elseif event.type == 'rewound' then
    filter(function(one) return one.turn < event.turn end)
  elseif event.type == 'session_started' and event.session ~= session then
    filter(function() return false end)
    session = event.session
  end
end)

vim.api.nvim_create_autocmd('BufReadPost', {
  callback = function(event)
    local uri = #all > 0 and vim.api.nvim_buf_get_name(event.buf) ~= '' and vim.uri_from_bufnr(event.buf)
    for _, one in ipairs(uri and all or {}) do
      if one.stamp and one.change.uri == uri and vim.deep_equal(one.stamp, stamp_of(uri)) then
        local range = one.change.range
        mark(one, event.buf, range.start.line, range['end'].line + 1)
      end
    end
  end,
})
vim.api.nvim_create_autocmd('BufUnload', {
  callback = function(event)
    for _, one in ipairs(all) do
      if one.buffer == event.buf then
        one.buffer, one.mark = nil, nil
      end
    end
  end,
})

return M

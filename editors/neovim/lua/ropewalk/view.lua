---The transcript in a buffer: only what is new or other is drawn, words are appended as they come, and a window's
---view moves only where it stands at the end.
local paint = require('ropewalk.paint')
local store = require('ropewalk.store')
local text = require('ropewalk.text')
local transcript = require('ropewalk.transcript')

local M = {}

local SPACE = vim.api.nvim_create_namespace('ropewalk.transcript')

---@class ropewalk.DrawnItem
---@field index integer its place among the items
---@field height integer lines of the buffer, an empty one before it included
---@field pieces integer how many pieces of its words are drawn
---@field lead integer 1 if an empty line stands before it
---@field scanned integer lines of its words that were looked at for the ends of blocks
---@field painted integer lines of its words that have their colours
---@field fence string? the marks that opened the code block it is in

---@class ropewalk.View
---@field buffer integer
---@field items ropewalk.Item[]
---@field drawn table<ropewalk.Item, ropewalk.DrawnItem>
---@field opened table<ropewalk.Item, boolean>
---@field generation integer?
---@field appended integer bytes put into the buffer so far
local View = {}
View.__index = View

---@param buffer integer
---@return ropewalk.View
function M.new(buffer)
  return setmetatable({ buffer = buffer, items = {}, drawn = {}, opened = {}, appended = 0 }, View)
end

---Puts lines into the buffer, from one row up to another.
function View:put(first, last, lines)
  for _, line in ipairs(lines) do
    self.appended = self.appended + #line
  end
  vim.api.nvim_buf_set_lines(self.buffer, first, last, false, lines)
end

---The row where an item begins, counted from the end: what changes is mostly there.
function View:row_of(item)
  local row = vim.api.nvim_buf_line_count(self.buffer)
  for index = #self.items, self.drawn[item].index, -1 do
    row = row - self.drawn[self.items[index]].height
  end
  return row
end

---Colours the lines of an item.
function View:decorate(row, lines)
  for number, line in ipairs(lines) do
    local at = row + number - 1
    if line.group and line[1] ~= '' then
      vim.api.nvim_buf_set_extmark(self.buffer, SPACE, at, 0, { end_col = #line[1], hl_group = line.group })
    end
    if line.icon then
      vim.api.nvim_buf_set_extmark(self.buffer, SPACE, at, 0, {
        end_col = #vim.fn.strcharpart(line[1], 0, 1), hl_group = line.icon, priority = 5000,
      })
    end
    if line.note then
      vim.api.nvim_buf_set_extmark(self.buffer, SPACE, at, 0, { virt_text = { { '  ' .. line.note, 'RopewalkHint' } } })
    end
  end
end

---Draws an item that is no running text, in the place of what it has now.
function View:draw_block(item, row, height)
  local drawn = self.drawn[item]
  local lines = transcript.lines_of(item, self.opened[item] or false)
  local words = vim.tbl_map(function(line) return line[1] end, lines)
  if drawn.lead == 1 then
    table.insert(words, 1, '')
  end
  vim.api.nvim_buf_clear_namespace(self.buffer, SPACE, row, row + height)
  self:put(row, row + height, words)
  drawn.height = #words
  self:decorate(row + drawn.lead, lines)
end

---Appends the pieces that have come since, to an item that stands at the end.
function View:append_words(item)
  local drawn = self.drawn[item]
  local words = table.concat(item.pieces, '', drawn.pieces + 1)
  drawn.pieces = #item.pieces
  local lines = text.lines(words)
  local row = vim.api.nvim_buf_line_count(self.buffer) - 1
  local column = #vim.api.nvim_buf_get_lines(self.buffer, row, row + 1, true)[1]
  self.appended = self.appended + #words
  vim.api.nvim_buf_set_text(self.buffer, row, column, row, column, lines)
  drawn.height = drawn.height + #lines - 1
end

---Looks through lines of words for the ends of blocks, code blocks counting as one.
---@return integer # how many lines are in blocks that have ended
local function ended_blocks(drawn, lines)
  local ended = drawn.painted
  for number = drawn.scanned + 1, #lines do
    local fence = lines[number]:match('^%s*(```+)') or lines[number]:match('^%s*(~~~+)')
    if fence and not drawn.fence then
      drawn.fence = fence
    elseif fence and vim.startswith(fence, drawn.fence) and lines[number]:match('^%s*[`~]+%s*$') then
      drawn.fence = nil
      ended = number
    elseif not drawn.fence and lines[number] == '' then
      ended = number
    end
  end
  drawn.scanned = math.max(drawn.scanned, #lines)
  return ended
end

---Colours the blocks of an item's words that have ended, each once; all of it if the item has.
function View:paint_words(item, has_ended)
  local drawn = self.drawn[item]
  local first = self:row_of(item) + drawn.lead
  local count = drawn.height - drawn.lead
  local lines = vim.api.nvim_buf_get_lines(self.buffer, first + drawn.painted, first + count, true)
  -- The last line may still grow.
  local whole = has_ended and #lines or #lines - 1
  local shift = drawn.painted
  local relative = { scanned = math.max(0, drawn.scanned - shift), painted = 0, fence = drawn.fence }
  local ended = ended_blocks(relative, vim.list_slice(lines, 1, whole))
  drawn.scanned, drawn.fence = relative.scanned + shift, relative.fence
  ended = has_ended and whole or ended
  if ended <= 0 then
    return
  end
  local source = table.concat(vim.list_slice(lines, 1, ended), '\n')
  for _, span in ipairs(paint.spans(source, 'markdown')) do
    local row = first + shift + span.row
    vim.api.nvim_buf_set_extmark(self.buffer, SPACE, row, span.column, {
      end_row = first + shift + span.end_row, end_col = span.end_column, hl_group = span.group, strict = false,
    })
  end
  drawn.painted = shift + ended
end

---Draws an item that is not on the page yet, at its end.
function View:append_item(item)
  local before = self.items[#self.items]
  if before and before.kind == 'text' then
    self:paint_words(before, true)
  end
  local lead = transcript.is_apart(before, item) and 1 or 0
  local drawn = { index = #self.items + 1, height = 0, pieces = 0, lead = lead, scanned = 0, painted = 0 }
  local row = before and vim.api.nvim_buf_line_count(self.buffer) or 0
  self.items[drawn.index], self.drawn[item] = item, drawn
  if item.kind ~= 'text' then
    local replaced = before and 0 or vim.api.nvim_buf_line_count(self.buffer)
    return self:draw_block(item, row, replaced)
  end
  local empty = lead == 1 and { '', '' } or { '' }
  self:put(row, before and row or -1, empty)
  drawn.height = #empty
  self:append_words(item)
  self:paint_words(item, false)
end

---Draws what has changed of an item.
function View:redraw_item(item)
  if item.kind == 'text' then
    if #item.pieces > self.drawn[item].pieces then
      self:append_words(item)
      self:paint_words(item, false)
    end
    return
  end
  self:draw_block(item, self:row_of(item), self.drawn[item].height)
end

---The windows of the buffer whose cursor is on its last line.
function View:followers()
  local last = vim.api.nvim_buf_line_count(self.buffer)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] >= last
  end, vim.fn.win_findbuf(self.buffer))
end

---Makes the buffer show the state as it is now.
---@param state ropewalk.State
---@param welcome string[] lines where nothing was said yet
function View:update(state, welcome)
  local touched = store.drain(state)
  local followers = self:followers()
  vim.bo[self.buffer].modifiable = true
  if self.generation ~= state.generation then
    self.generation, self.items, self.drawn = state.generation, {}, {}
    vim.api.nvim_buf_clear_namespace(self.buffer, SPACE, 0, -1)
    self:put(0, -1, {})
    touched = {}
  end
  for _, item in ipairs(touched) do
    if self.drawn[item] then
      self:redraw_item(item)
    end
  end
  for index = #self.items + 1, #state.items do
    self:append_item(state.items[index])
  end
  if #self.items == 0 then
    self:put(0, -1, welcome)
  end
  vim.bo[self.buffer].modifiable, vim.bo[self.buffer].modified = false, false
  local last = vim.api.nvim_buf_line_count(self.buffer)
  local width = #vim.api.nvim_buf_get_lines(self.buffer, last - 1, last, true)[1]
  for _, window in ipairs(followers) do
    vim.api.nvim_win_set_cursor(window, { last, width })
  end
end

---@param row integer from zero
---@return ropewalk.Item? # the item that a line belongs to
function View:item_at(row)
  local first = 0
  for _, item in ipairs(self.items) do
    first = first + self.drawn[item].height
    if row < first then
      return item
    end
  end
end

---Shows the details of an item in place, or hides them.
---@param item ropewalk.Item
function View:toggle(item)
  self.opened[item] = not self.opened[item]
  vim.bo[self.buffer].modifiable = true
  local row = self:row_of(item)
  self:draw_block(item, row, self.drawn[item].height)
  vim.bo[self.buffer].modifiable, vim.bo[self.buffer].modified = false, false
  vim.api.nvim_win_set_cursor(0, { row + self.drawn[item].lead + 1, 0 })
end

return M

---Proposed changes, drawn over the user's text: the buffer keeps its own lines, which are tinted, and the new ones
---are virtual lines below them.
local config = require('ropewalk.config')
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local moves = require('ropewalk.moves')
local paint = require('ropewalk.paint')
local text = require('ropewalk.text')

local M = {}

local SPACE = vim.api.nvim_create_namespace('ropewalk.changes')
local PUBLISHED = vim.api.nvim_create_namespace('ropewalk.published')
---New lines of one change that are drawn; the diff shows all.
local MOST_LINES = 200
local MOST_SIGNS = 50

---@class ropewalk.Drawn
---@field hunk table
---@field old integer mark of the lines it replaces
---@field new integer mark that carries the new lines
---@field signs integer[] one at each line it replaces, for colours alone would say too little
---@field above integer how many virtual lines stand above the first line for it
---@field is_painted boolean
---@field number integer its place among all
---@field total integer how many there are

---@type table<integer, table<integer, ropewalk.Drawn>> by buffer and hunk
local drawn = {}
---@type table<integer, table[]> what was drawn last, by buffer; nil where that is not known
local shown = {}
---Ids are never used again: a mark with an old id would jump back on undo.
local last_id = 0

local function mark(buffer, space, row, column, options)
  last_id = last_id + 1
  options.id, options.strict = last_id, false
  vim.api.nvim_buf_set_extmark(buffer, space, row, column, options)
  return last_id
end

---The new lines of a change, in the words of the screen.
local function new_lines(hunk)
  if hunk.kind ~= 'text' and hunk.kind ~= 'create' then
    return text.lines((hunk.diff or ''):gsub('\n+$', ''))
  elseif not hunk.new then
    return { 'A long change: :Ropewalk diff shows it.' }
  end
  local lines = text.lines((hunk.new:gsub('\n$', '')))
  if hunk.new == '' then
    return {}
  elseif #lines > MOST_LINES then
    local more = #lines - MOST_LINES
    lines = vim.list_slice(lines, 1, MOST_LINES)
    lines[#lines + 1] = ('… %d more lines: :Ropewalk diff shows them.'):format(more)
  end
  return lines
end

---What stands behind the number of a change. It is looked up once for all changes that are drawn together.
local suffix = ''

local function look_up_hints()
  suffix = config.get().hints and ' · ' .. keys.hints({ 'accept', 'reject' }) or ''
end

local function hint_of(one)
  local by = text.makers(one.hunk.members)
  return ('change %d/%d%s%s'):format(one.number, one.total, by and ' · ' .. by or '', suffix)
end

---The narrowest window of a buffer, in cells of text.
local function width_of(buffer)
  local width = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return width
end

---The virtual lines of a change. Where they are on the screen they have their colours, and the hint at the end of the
---last one, or below where it doesn't fit.
local function virtual_lines(buffer, one, is_painted, room)
  local lines, is_text = new_lines(one.hunk), one.hunk.kind == 'text' or one.hunk.kind == 'create'
  local base = is_text and 'RopewalkNew' or 'RopewalkWarning'
  if not is_painted then
    return paint.virtual_lines(lines, nil, base)
  end
  local tab = (' '):rep(vim.bo[buffer].tabstop)
  lines = vim.tbl_map(function(line) return (line:gsub('\t', tab)) end, lines)
  local virtual = paint.virtual_lines(lines, is_text and paint.language(vim.bo[buffer].filetype) or nil, base)
  local hint = '  ' .. hint_of(one)
  local width = #lines > 0 and vim.fn.strdisplaywidth(lines[#lines]) or math.huge
  if width + vim.fn.strdisplaywidth(hint) <= room then
    table.insert(virtual[#virtual], { hint, 'RopewalkHint' })
  else
    virtual[#virtual + 1] = { { hint, 'RopewalkHint' } }
  end
  return virtual
end

---Draws the new lines of a change, anew if they were drawn.
local function draw_new(buffer, one, is_painted, room)
  local virtual = virtual_lines(buffer, one, is_painted, room)
  local row = one.row
  if one.new then
    row = vim.api.nvim_buf_get_extmark_by_id(buffer, SPACE, one.new, {})[1] or row
    vim.api.nvim_buf_del_extmark(buffer, SPACE, one.new)
  end
  one.new = mark(buffer, SPACE, row, 0, { virt_lines = virtual, virt_lines_above = one.is_above })
  one.above = one.is_above and #virtual or 0
  one.is_painted = is_painted
end

---Signs of the kinds that have no lines of their own.
local SIGNS = { delete = '✗', rename = '»', binary = '~', mode = '~', link = '~' }

---Draws one change at a row, plain.
local function draw_one(buffer, hunk, row)
  local count = vim.api.nvim_buf_line_count(buffer)
  local is_text = hunk.kind == 'text'
  local first = is_text and math.min(row, count) or 0
  local lines = is_text and math.min(hunk.lines, count - first) or 0
  local is_empty = count == 1 and vim.api.nvim_buf_get_lines(buffer, 0, 1, true)[1] == ''
  local is_above = first == 0 and lines == 0 and not is_empty
  local one = { hunk = hunk, is_above = is_above, row = math.max(0, first + lines - 1) }
  one.old = mark(buffer, SPACE, math.min(first, count - 1), 0, lines > 0 and {
    end_row = first + lines, end_col = 0, hl_group = 'RopewalkOld', hl_eol = true,
  } or {})
  one.signs = {}
  for signed = lines > 0 and first or one.row, lines > 0 and first + math.min(lines, MOST_SIGNS) - 1 or one.row do
    one.signs[#one.signs + 1] = mark(buffer, SPACE, signed, 0, {
      sign_text = lines > 0 and '-' or SIGNS[hunk.kind] or '+', sign_hl_group = 'RopewalkSign',
    })
  end
  draw_new(buffer, one, false)
  return one
end

---Lines above the first one that are drawn in a buffer.
local function lines_above(buffer)
  local above = 0
  for _, one in pairs(drawn[buffer] or {}) do
    above = above + one.above
  end
  return above
end

---Scrolls to the virtual lines above the first line in windows that begin there: Neovim hides them by itself.
local function show_above(buffer)
  local above = lines_above(buffer)
  for _, window in ipairs(above > 0 and vim.fn.win_findbuf(buffer) or {}) do
    vim.api.nvim_win_call(window, function()
      local view = vim.fn.winsaveview()
      local most = math.min(above, vim.api.nvim_win_get_height(window) - 1)
      if view.topline == 1 and view.topfill < most then
        view.topfill = most
        vim.fn.winrestview(view)
      end
    end)
  end
end

---Colours the changes that a window shows, and says what can be done with them.
local function paint_visible(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  local of = drawn[buffer]
  if not of then
    return
  end
  local first, last = vim.fn.line('w0', window) - 1, vim.fn.line('w$', window) - 1
  local room = width_of(buffer)
  look_up_hints()
  for _, one in pairs(of) do
    if not one.is_painted then
      local at = vim.api.nvim_buf_get_extmark_by_id(buffer, SPACE, one.new, {})
      if at[1] and at[1] >= first - 1 and at[1] <= last + 1 then
        draw_new(buffer, one, true, room)
      end
    end
  end
end

---The row where a change stands now: an event is often of a version that the user's typing has left behind.
---@return integer? # nil where the user has changed its lines since
local function row_of(buffer, hunk)
  if hunk.kind ~= 'text' or not hunk.version then
    return hunk.line
  end
  -- The version is that of the range: `line` can be of an earlier one.
  local first = hunk.range.start.line
  return (moves.rows(buffer, hunk.version, first, first + hunk.lines))
end

local function clear_one(buffer, one)
  for _, id in ipairs({ one.old, one.new, unpack(one.signs) }) do
    vim.api.nvim_buf_del_extmark(buffer, SPACE, id)
  end
end

---True if a change is drawn at `row`, with the same lines: thousands need not be drawn anew for one.
local function is_as_drawn(buffer, one, hunk, row)
  local at = vim.api.nvim_buf_get_extmark_by_id(buffer, SPACE, one.old, { details = true })
  local last = hunk.lines > 0 and row + hunk.lines or nil
  return one.hunk.kind == 'text' and hunk.kind == 'text' and one.hunk.new == hunk.new and one.hunk.lines == hunk.lines
    and hunk.lines > 0 and at[1] == row and at[3].end_row == last
end

---Draws the changes of one buffer. Those whose lines the user has changed since stay as they are until the next event.
local function draw(buffer, by_uri)
  local of = by_uri[vim.uri_from_bufnr(buffer)] or {}
  if shown[buffer] and vim.deep_equal(of, shown[buffer]) then
    return
  end
  local before, now, is_whole = drawn[buffer] or {}, {}, true
  for _, entry in ipairs(of) do
    local hunk, one, row = entry.hunk, before[entry.hunk.id], row_of(buffer, entry.hunk)
    if not row then
      before[hunk.id], is_whole = nil, false
    else
      if one and is_as_drawn(buffer, one, hunk, row) then
        before[hunk.id] = nil
        one.is_painted = one.is_painted and one.number == entry.number and one.total == entry.total
      else
        one = draw_one(buffer, hunk, row)
      end
      one.hunk, one.number, one.total = hunk, entry.number, entry.total
    end
    now[hunk.id] = one
  end
  for _, one in pairs(before) do
    clear_one(buffer, one)
  end
  drawn[buffer], shown[buffer] = now, is_whole and of or nil
  vim.iter(vim.fn.win_findbuf(buffer)):each(paint_visible)
  show_above(buffer)
end

local function by_uri()
  local grouped = {}
  for number, hunk in ipairs(hub.state.hunks) do
    local uri = hunk.source or hunk.uri
    grouped[uri] = grouped[uri] or {}
    table.insert(grouped[uri], { hunk = hunk, number = number, total = #hub.state.hunks })
  end
  return grouped
end

local function is_file(buffer)
  return vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' and vim.api.nvim_buf_get_name(buffer) ~= ''
end

---Draws the changes of a buffer that is new on the screen, or was loaded anew.
---@param buffer integer
function M.draw(buffer)
  if is_file(buffer) then
    shown[buffer] = nil
    draw(buffer, by_uri())
  end
end

---Draws all changes as they are now.
function M.draw_all()
  local grouped = by_uri()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if is_file(buffer) then
      draw(buffer, grouped)
    end
  end
end

---Takes away what is drawn for the changes that an edit is about to make.
---@param buffer integer
---@param edits lsp.TextEdit[]
function M.about_to_change(buffer, edits)
  for id, one in pairs(drawn[buffer] or {}) do
    local row = M.place(buffer, id) or 0
    for _, edit in ipairs(edits) do
      if edit.range.start.line <= row + one.hunk.lines and edit.range['end'].line >= row then
        clear_one(buffer, one)
        drawn[buffer][id], shown[buffer] = nil, nil
        break
      end
    end
  end
end

---@param buffer integer
---@param id integer a hunk
---@return integer? row where it begins now, from zero
---@return integer? last its last line now
function M.place(buffer, id)
  buffer = buffer == 0 and vim.api.nvim_get_current_buf() or buffer
  local one = (drawn[buffer] or {})[id]
  if not one then
    return nil
  end
  local at = vim.api.nvim_buf_get_extmark_by_id(buffer, SPACE, one.old, { details = true })
  if not at[1] then
    return nil
  end
  local end_row = math.max(at[1], (at[3].end_row or at[1] + 1) - 1)
  local new = vim.api.nvim_buf_get_extmark_by_id(buffer, SPACE, one.new, {})[1] or at[1]
  return math.min(at[1], new), math.max(end_row, new)
end

---@param buffer integer
---@param first integer row from zero
---@param last integer
---@return integer[] # the ids of the changes that touch these lines
function M.touching(buffer, first, last)
  local ids = {}
  for id in pairs(drawn[buffer] or {}) do
    local row, end_row = M.place(buffer, id)
    if row and row <= last and end_row >= first then
      ids[#ids + 1] = id
    end
  end
  table.sort(ids)
  return ids
end

---Tints what was just put into the files. The marks move with what comes after.
local function tint(published)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local uri = is_file(buffer) and vim.uri_from_bufnr(buffer)
    for _, change in ipairs(uri and published or {}) do
      local first, stop
      if change.uri == uri and change.range then
        first, stop = change.range.start.line, change.range['end'].line + 1
        if change.version then
          first, stop = moves.rows(buffer, change.version, first, stop)
        end
      end
      if first then
        mark(buffer, PUBLISHED, first, 0, { end_row = stop, end_col = 0, hl_eol = true, hl_group = 'RopewalkPublished' })
      end
    end
  end
end

local function clear_tints()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    vim.api.nvim_buf_clear_namespace(buffer, PUBLISHED, 0, -1)
  end
end

hub.listen(function(event, state)
  local kind = event.type
  if kind == 'hunks' or kind == 'session_started' or kind == 'disconnected' then
    M.draw_all()
  end
  if kind == 'turn_started' or kind == 'session_started' then
    clear_tints()
  elseif kind == 'published' and state.mode == 'auto' then
    tint(event.changes)
  end
end)

vim.api.nvim_create_autocmd('WinScrolled', {
  callback = function()
    for window, moved in pairs(vim.v.event) do
      local number = tonumber(window)
      if number and vim.api.nvim_win_is_valid(number) then
        if moved.topline ~= 0 then
          show_above(vim.api.nvim_win_get_buf(number))
        end
        paint_visible(number)
      end
    end
  end,
})
vim.api.nvim_create_autocmd('BufWinEnter', {
  callback = function(event)
    vim.schedule(function()
      if vim.api.nvim_buf_is_valid(event.buf) then
        vim.iter(vim.fn.win_findbuf(event.buf)):each(paint_visible)
        show_above(event.buf)
      end
    end)
  end,
})
---Forgets what is drawn in a buffer. The marks outlive its text where that is read anew, so they are taken away.
local function forget(buffer)
  drawn[buffer], shown[buffer] = nil, nil
  vim.api.nvim_buf_clear_namespace(buffer, SPACE, 0, -1)
  vim.api.nvim_buf_clear_namespace(buffer, PUBLISHED, 0, -1)
end
vim.api.nvim_create_autocmd('BufUnload', {
  callback = function(event) forget(event.buf) end,
})
vim.api.nvim_create_autocmd('BufReadPost', {
  callback = function(event)
    forget(event.buf)
    M.draw(event.buf)
  end,
})

return M

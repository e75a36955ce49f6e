---The inline input: a float at the lines that a request is about.
local drafts = require('ropewalk.drafts')

local M = {}

local MOST_LINES = 8
local SPACE = vim.api.nvim_create_namespace('ropewalk.input')

---@class ropewalk.Inline
---@field buffer integer
---@field window integer
---@field source integer the buffer that the request is about
---@field back integer the window to go back to
---@field send fun(words: string, failed: fun())

local function resize(inline)
  if not vim.api.nvim_win_is_valid(inline.window) then
    return
  end
  local needed = vim.api.nvim_win_text_height(inline.window, {}).all
  vim.api.nvim_win_set_height(inline.window, math.max(1, math.min(needed, MOST_LINES)))
end

local function close(inline)
  vim.cmd.stopinsert()
  if vim.api.nvim_buf_is_valid(inline.source) then
    vim.api.nvim_buf_clear_namespace(inline.source, SPACE, 0, -1)
  end
  if vim.api.nvim_win_is_valid(inline.window) then
    vim.api.nvim_win_close(inline.window, true)
  end
  if vim.api.nvim_win_is_valid(inline.back) then
    vim.api.nvim_set_current_win(inline.back)
  end
end

local function send(inline)
  local lines = vim.api.nvim_buf_get_lines(inline.buffer, 0, -1, true)
  local words = vim.trim(table.concat(lines, '\n'))
  if words == '' then
    return
  end
  vim.api.nvim_buf_set_lines(inline.buffer, 0, -1, true, { '' })
  close(inline)
  drafts.save('ask', { '' })
  inline.send(words, function()
    drafts.save('ask', lines)
  end)
end

---Puts an earlier request into the input, or the draft again.
local function look_back(inline, step)
  local earlier = require('ropewalk.ask').earlier
  inline.draft = inline.at and inline.draft or vim.api.nvim_buf_get_lines(inline.buffer, 0, -1, true)
  local at = (inline.at or #earlier + 1) + step
  if at < 1 or at > #earlier + 1 then
    return
  end
  inline.at = at <= #earlier and at or nil
  local lines = inline.at and vim.split(earlier[at], '\n') or inline.draft
  vim.api.nvim_buf_set_lines(inline.buffer, 0, -1, true, lines)
  vim.api.nvim_win_set_cursor(inline.window, { #lines, #lines[#lines] })
  resize(inline)
end

local function map_keys(inline)
  local function map(modes, key, run)
    vim.keymap.set(modes, key, run, { buffer = inline.buffer, nowait = true })
  end
  map({ 'n', 'i' }, '<CR>', function()
    require('ropewalk.completion').enter(function() send(inline) end)
  end)
  map('n', '<Esc>', function() close(inline) end)
  map({ 'n', 'i' }, '<C-c>', function() close(inline) end)
  map('i', '<C-j>', '<CR>')
  map({ 'n', 'i' }, '<Up>', function()
    if vim.api.nvim_win_get_cursor(inline.window)[1] > 1 then
      return vim.cmd('normal! k')
    end
    look_back(inline, -1)
  end)
  map({ 'n', 'i' }, '<Down>', function()
    local is_last = vim.api.nvim_win_get_cursor(inline.window)[1] == vim.api.nvim_buf_line_count(inline.buffer)
    if not is_last then
      return vim.cmd('normal! j')
    end
    look_back(inline, 1)
  end)
end

local function title_of(opts)
  if opts.range == 0 then
    return (' Ask about line %d '):format(opts.line1)
  end
  return opts.line1 == opts.line2 and (' Ask about line %d '):format(opts.line1)
    or (' Ask about lines %d–%d '):format(opts.line1, opts.line2)
end

---Opens the input below the lines.
---@param opts table as of a user command: `line1`, `line2`, `range`
---@param on_send fun(words: string, failed: fun())
function M.open(opts, on_send)
  local back, source = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].modifiable = true
  vim.bo[buffer].bufhidden, vim.bo[buffer].filetype = 'wipe', 'markdown'
  local draft = drafts.load('ask')
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, draft)
  if opts.range > 0 then
    vim.api.nvim_buf_set_extmark(source, SPACE, opts.line1 - 1, 0, {
      end_row = opts.line2, end_col = 0, hl_group = 'Visual', hl_eol = true, strict = false,
    })
  end
  local width = math.max(20, math.min(72, vim.api.nvim_win_get_width(back) - 6))
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'win', win = back, bufpos = { opts.line2 - 1, 0 }, row = 1, col = 2, width = width, height = 1,
    border = 'rounded', title = title_of(opts), footer = ' ⏎ asks · ↑ earlier · Esc Esc keeps the draft ', style = 'minimal',
  })
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  local inline = { buffer = buffer, window = window, source = source, back = back, send = on_send }
  drafts.keep(buffer, 'ask')
  map_keys(inline)
  require('ropewalk.completion').attach(buffer)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    buffer = buffer,
    callback = function() resize(inline) end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    callback = function()
      if vim.api.nvim_buf_is_valid(source) then
        vim.api.nvim_buf_clear_namespace(source, SPACE, 0, -1)
      end
    end,
  })
  vim.api.nvim_win_set_cursor(window, { #draft, #draft[#draft] })
  resize(inline)
  vim.cmd.startinsert({ bang = true })
end

return M

---Floats that can't take the focus, for words that come by themselves. Neovim closes, hides or misplaces them now
---and then: they are opened and placed anew.
local M = {}

---@class ropewalk.Float
---@field lines string[]
---@field groups table<integer, string>? highlight groups of whole lines, from one
---@field title string?
---@field border_group string?
---@field corner 'top'|'bottom' at the right; one at the top opens below where the cursor is in the upper half

---@type table<string, { window: integer?, buffer: integer, float: ropewalk.Float, is_top: boolean }>
local open = {}

local SPACE = vim.api.nvim_create_namespace('ropewalk.float')

---The widest line, within the screen; what comes by itself at the top leaves the code beside it readable.
local function width_of(float)
  local most = float.corner == 'top' and math.max(36, math.floor(vim.o.columns * 0.6)) or vim.o.columns - 4
  local width = vim.fn.strdisplaywidth(float.title or '') + 2
  for _, line in ipairs(float.lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  return math.max(1, math.min(width, most, vim.o.columns - 4))
end

---The row that the lower edge of a float at the bottom stands on: above the line that is being written, and above an
---input as a whole.
local function lower_edge(height)
  local edge = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  local window = vim.api.nvim_get_current_win()
  local position = vim.fn.win_screenpos(window)
  if vim.api.nvim_win_get_height(window) < 15 and position[1] + vim.api.nvim_win_get_height(window) >= edge - height - 2 then
    local above = position[1] - 1
    return above > height + 2 and above or edge
  end
  local row = vim.fn.screenpos(window, vim.fn.line('.'), vim.fn.col('.')).row
  if row > edge - height - 2 and row - 1 > height + 2 then
    return row - 1
  end
  return edge
end

---True if a float for the top opens there: lines near the cursor stay readable.
local function opens_at_top(float)
  for _, other in pairs(open) do
    if other.float.corner == 'bottom' then
      return float.corner == 'top'
    end
  end
  local row = vim.fn.screenpos(0, vim.fn.line('.'), vim.fn.col('.')).row
  return float.corner == 'top' and row > vim.o.lines / 2
end

local function layout(float, is_top)
  local width = width_of(float)
  local height = 0
  for _, line in ipairs(float.lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  height = math.max(1, math.min(height, vim.o.lines - vim.o.cmdheight - 4))
  local is_notice = float.corner == 'top'
  local edge = is_notice and vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0) or lower_edge(height)
  return {
    relative = 'editor', anchor = is_top and 'NE' or 'SE', row = is_top and 1 or edge,
    col = vim.o.columns, width = width, height = height, focusable = false, noautocmd = true, style = 'minimal',
    border = 'rounded', title = float.title and (' %s '):format(float.title) or nil, zindex = 60,
  }
end

---Puts a float on the screen of the current tab.
local function place(name)
  local one = open[name]
  local options = layout(one.float, one.is_top)
  local window = one.window
  local is_here = window and vim.api.nvim_win_is_valid(window)
    and vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage()
  if is_here then
    options.noautocmd = nil
    vim.api.nvim_win_set_config(window, options)
  else
    if window and vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    local is_open, opened = pcall(vim.api.nvim_open_win, one.buffer, false, options)
    one.window = is_open and opened or nil
    if not is_open then
      return
    end
    vim.wo[opened].wrap, vim.wo[opened].linebreak = true, true
    vim.wo[opened].winhighlight = ('FloatBorder:%s,FloatTitle:%s'):format(
      one.float.border_group or 'RopewalkBorder', one.float.border_group or 'RopewalkBorder')
  end
  -- In these modes Neovim draws a new float only if told to.
  if vim.api.nvim_get_mode().mode:find('^[cr]') then
    vim.cmd.redraw()
  end
end

local function place_all()
  vim.schedule(function()
    for name in pairs(open) do
      place(name)
    end
  end)
end

---Moves what stands below out of the way of a float for the bottom.
local function make_room()
  for _, other in pairs(open) do
    if other.float.corner == 'top' and not other.is_top then
      other.is_top = true
      place_all()
    end
  end
end

---Shows a float, or other words in it.
---@param name string which one
---@param float ropewalk.Float
function M.show(name, float)
  local one = open[name]
  if float.corner == 'bottom' then
    make_room()
  end
  if not one or not vim.api.nvim_buf_is_valid(one.buffer) then
    one = { buffer = vim.api.nvim_create_buf(false, true), is_top = opens_at_top(float) }
    -- A new buffer takes what `:set nomodifiable` has left.
    vim.bo[one.buffer].modifiable = true
    vim.bo[one.buffer].bufhidden = 'hide'
    vim.bo[one.buffer].undolevels = -1
    open[name] = one
  end
  one.float = float
  vim.api.nvim_buf_set_lines(one.buffer, 0, -1, true, float.lines)
  vim.api.nvim_buf_clear_namespace(one.buffer, SPACE, 0, -1)
  for number, group in pairs(float.groups or {}) do
    vim.api.nvim_buf_set_extmark(one.buffer, SPACE, number - 1, 0, { line_hl_group = group })
  end
  place(name)
end

---@param name string
function M.close(name)
  local one = open[name]
  open[name] = nil
  if one then
    if one.window and vim.api.nvim_win_is_valid(one.window) then
      pcall(vim.api.nvim_win_close, one.window, true)
    end
    pcall(vim.api.nvim_buf_delete, one.buffer, { force = true })
    if vim.api.nvim_get_mode().mode:find('^[cr]') then
      vim.cmd.redraw()
    end
  end
end

---@param name string
---@return boolean
function M.is_open(name)
  return open[name] ~= nil
end

vim.api.nvim_create_autocmd({ 'VimResized', 'TabEnter', 'WinClosed', 'WinEnter', 'CmdlineEnter' }, { callback = place_all })
vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, {
  callback = function()
    for _, one in pairs(open) do
      if one.float.corner == 'bottom' then
        return place_all()
      end
    end
  end,
})

return M

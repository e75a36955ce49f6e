---Completion in the inputs: files behind `@`, commands and skills behind `/`, as the server offers them.
local client = require('ropewalk.client')

local M = {}

---Takes the chosen offer, if a list of them is open.
---@return boolean was_taken
function M.take()
  local info = vim.fn.complete_info({ 'pum_visible', 'selected' })
  if info.pum_visible == 0 or info.selected < 0 then
    return false
  end
  vim.api.nvim_feedkeys(vim.keycode('<C-y>'), 'n', false)
  return true
end

---The column where the word with `@` or `/` begins that ends at the cursor, from zero.
local function word_start(before, is_first_line)
  local at = before:match('()@%S*$') or is_first_line and before:match('^()/%S*$')
  local ahead = at and at > 1 and before:sub(at - 1, at - 1)
  return at and (not ahead or ahead:find('[%s(]')) and at - 1 or nil
end

---Offers as Neovim takes them, from what the server answers.
local function items_of(result)
  local items = {}
  for _, item in ipairs(result.items or result) do
    items[#items + 1] = {
      word = item.text or item.insert or item.word or item.label,
      abbr = item.label,
      menu = item.detail or item.description,
      icase = 1, dup = 1,
    }
  end
  return items
end

---Asks for offers, and shows them if the user is still at the same place.
local function offer(buffer)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local start = word_start(lines[row]:sub(1, column), row == 1)
  if not start then
    return
  end
  local offset = column
  for number = 1, row - 1 do
    offset = offset + #lines[number] + 1
  end
  local version = vim.b[buffer].changedtick
  client.request('ropewalk/complete', { text = table.concat(lines, '\n'), offset = offset }, function(problem, result)
    local is_here = vim.api.nvim_get_current_buf() == buffer and vim.b[buffer].changedtick == version
    if problem or not result or not is_here or not vim.api.nvim_get_mode().mode:find('^i') then
      return
    end
    local items = items_of(result)
    if #items > 0 then
      vim.fn.complete((result.start and result.start - (offset - column) or start) + 1, items)
    end
  end)
end

---Completes in this buffer from now on.
---@param buffer integer
function M.attach(buffer)
  vim.bo[buffer].completeopt = 'menuone,noinsert,noselect,popup'
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP' }, {
    buffer = buffer,
    callback = function() offer(buffer) end,
  })
end

return M

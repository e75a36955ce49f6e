---Completion in the inputs: files behind `@`, commands and skills behind `/`, as the server offers them.
local client = require('ropewalk.client')

local M = {}

local after ---@type fun()?
---True once an offer was taken, until the text changes again: nothing else is offered in its place.
local is_taken = false

---Enter in an input: takes the chosen offer; where none is chosen, closes the list of them and runs `send`.
---@param send fun()
function M.enter(send)
  local info = vim.fn.complete_info({ 'pum_visible', 'selected' })
  if info.pum_visible == 0 then
    return send()
  end
  after = info.selected < 0 and send or nil
  is_taken = info.selected >= 0
  local keys = after and '<C-e><Cmd>lua require("ropewalk.completion").go_on()<CR>' or '<C-y>'
  vim.api.nvim_feedkeys(vim.keycode(keys), 'n', false)
end

---What `enter` has left to do once the list is closed.
function M.go_on()
  local send = after
  after = nil
  if send then
    send()
  end
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
  local before = lines[row]:sub(1, column)
  local start = word_start(before, row == 1)
  -- Walking through the offers changes the text too.
  if not start or is_taken or vim.fn.complete_info({ 'selected' }).selected >= 0 then
    is_taken = false
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
    local is_whole = #items == 1 and items[1].word == before:sub(start + 1)
    if #items > 0 and not is_whole then
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

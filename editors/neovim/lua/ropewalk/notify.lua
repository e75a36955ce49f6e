---Short words in the corner that go by themselves. They take no keys and no focus; `:Ropewalk chat` keeps them all.
local float = require('ropewalk.float')
local text = require('ropewalk.text')

local M = {}

---Milliseconds that words stay, by how much there is to read.
local LEAST, EACH_CHARACTER, MOST = 5000, 60, 20000
local MOST_SHOWN, MOST_ROWS = 4, 12

local GROUPS = { error = 'RopewalkBad', warning = 'RopewalkWarning', info = 'RopewalkInfo' }
local shown = {} ---@type { level: string, words: string }[]
---What was said in this Neovim, the newest last.
M.said = {}

local function draw()
  if #shown == 0 then
    return float.close('notify')
  end
  local lines, groups, worst = {}, {}, 'info'
  for _, one in ipairs(shown) do
    local of = text.lines(one.words)
    for number = 1, math.min(#of, MOST_ROWS) do
      lines[#lines + 1] = of[number]
      groups[#lines] = one.level ~= 'info' and GROUPS[one.level] or nil
    end
    if #of > MOST_ROWS then
      lines[#lines + 1] = ('… %d more lines: :Ropewalk chat'):format(#of - MOST_ROWS)
    end
    worst = one.level == 'error' and 'error' or worst == 'info' and one.level or worst
  end
  float.show('notify', {
    lines = lines, groups = groups, title = 'Ropewalk', corner = 'top', border_group = GROUPS[worst],
  })
end

---Shows words for a while.
---@param level 'info'|'warning'|'error'
---@param words string
function M.show(level, words)
  words = vim.trim(words)
  if words == '' then
    return
  end
  if vim.in_fast_event() then
    return vim.schedule(function()
      M.show(level, words)
    end)
  end
  local one = { level = level, words = words }
  table.insert(M.said, one)
  if #M.said > 200 then
    table.remove(M.said, 1)
  end
  shown = vim.tbl_filter(function(other)
    return other.words ~= words
  end, shown)
  table.insert(shown, one)
  if #shown > MOST_SHOWN then
    table.remove(shown, 1)
  end
  draw()
  vim.defer_fn(function()
    shown = vim.tbl_filter(function(other)
      return other ~= one
    end, shown)
    draw()
  end, math.min(LEAST + EACH_CHARACTER * #words, MOST))
end

---Takes all words off the screen.
function M.dismiss()
  shown = {}
  draw()
end

---Rings the terminal's bell, if the settings have it.
function M.bell()
  if require('ropewalk.config').get().bell then
    vim.api.nvim_chan_send(vim.v.stderr, '\a')
  end
end

return M

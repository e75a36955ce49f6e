---Words made fit for a screen: one line, no control characters, a bounded width, numbers as people read them.
local M = {}

---Characters that turn the direction of writing around, and so show a name as another one.
local TURNS = { '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}' }

---@param words string?
---@return string words with nothing in them that drives a terminal or turns writing around
local function harmless(words)
  words = words or ''
  if words:find('\xe2\x80', 1, true) or words:find('\xe2\x81', 1, true) then
    for _, turn in ipairs(TURNS) do
      words = words:gsub(turn, '�')
    end
  end
  return (words:gsub('[%z\1-\8\11-\31\127]', '�'))
end

---Words on one line.
---@param words string?
---@return string
function M.line(words)
  return (harmless((words or ''):gsub('\r?\n', ' ⏎ ')):gsub('\t', ' '))
end

---Words as the lines of a buffer. A carriage return before a line's end is dropped.
---@param words string?
---@return string[]
function M.lines(words)
  return vim.split(harmless((words or ''):gsub('\r\n', '\n')), '\n', { plain = true })
end

---The start of a line that fits into so many cells, with `…` where something is left out.
---@param line string
---@param width integer cells
---@return string
function M.clip(line, width)
  if vim.fn.strdisplaywidth(line) <= width then
    return line
  end
  local low, high = 0, vim.fn.strchars(line)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if vim.fn.strdisplaywidth(vim.fn.strcharpart(line, 0, middle)) <= width - 1 then
      low = middle
    else
      high = middle - 1
    end
  end
  return vim.fn.strcharpart(line, 0, low) .. '…'
end

---Whose work a change is: `task #3, alice`; nil for the session's own.
---@param members ropewalk.HunkMember[]?
---@return string?
function M.makers(members)
  local made = vim.tbl_map(function(one)
    local name = M.line(one.member)
    return one.task and ('task #%d, %s'):format(one.task, name) or name
  end, members or {})
  return #made > 0 and table.concat(made, ' and ') or nil
end

---@param number integer
---@param one string
---@param many string
---@return string # such as `3 changes`
function M.count(number, one, many)
  return number .. ' ' .. (number == 1 and one or many)
end

---@param number integer tokens
---@return string # such as `33k`
function M.tokens(number)
  if number < 1000 then
    return tostring(number)
  elseif number < 1000000 then
    return ('%dk'):format(math.floor(number / 1000 + 0.5))
  end
  return ('%.1fM'):format(number / 1000000)
end

---@param dollars number
---@return string # such as `$0.03`
function M.money(dollars)
  return ('$%.2f'):format(dollars)
end

---@param seconds integer
---@return string # such as `12 s` or `3 min`
function M.duration(seconds)
  return seconds < 120 and seconds .. ' s' or math.floor(seconds / 60) .. ' min'
end

---@param hunks table[] changes, each with a `file`
---@return string # such as `3 changes in 2 files`
function M.changes(hunks)
  local files, count = {}, 0
  for _, hunk in ipairs(hunks) do
    if not files[hunk.file] then
      files[hunk.file], count = true, count + 1
    end
  end
  return M.count(#hunks, 'change', 'changes') .. ' in ' .. M.count(count, 'file', 'files')
end

return M

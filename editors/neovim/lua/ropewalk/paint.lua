---Colours by Tree-sitter for a piece of text alone, never for a whole buffer: parsing grows with what is parsed.
local M = {}

---Bytes above which a text stays plain.
local MOST = 65536

---Adds the captures of one tree.
local function captured(found, tree, language, source)
  local query = vim.treesitter.query.get(language, 'highlights')
  if not query then
    return
  end
  for capture, node, metadata in query:iter_captures(tree:root(), source) do
    local name = query.captures[capture]
    if not vim.startswith(name, '_') and name ~= 'spell' and name ~= 'nospell' then
      local row, column, end_row, end_column = vim.treesitter.get_node_range(node)
      found[#found + 1] = {
        row = row, column = column, end_row = end_row, end_column = end_column,
        group = ('@%s.%s'):format(name, language), conceal = metadata.conceal,
      }
    end
  end
end

---@class ropewalk.Span
---@field row integer from zero, as the others; the end is not part of it
---@field column integer bytes
---@field end_row integer
---@field end_column integer
---@field group string

---What is coloured in a text. Later spans lie over earlier ones. Empty where there is no parser for the language.
---@param source string
---@param language string of Tree-sitter
---@return ropewalk.Span[]
function M.spans(source, language)
  local found = {}
  if #source > MOST or not pcall(vim.treesitter.language.add, language) then
    return found
  end
  local is_good, parser = pcall(vim.treesitter.get_string_parser, source, language)
  if not is_good or not parser or not pcall(parser.parse, parser, true) then
    return found
  end
  parser:for_each_tree(function(tree, of)
    captured(found, tree, of:lang(), source)
  end)
  return found
end

---@param filetype string
---@return string? language its language, if there is a parser for it
function M.language(filetype)
  local language = vim.treesitter.language.get_lang(filetype)
  if not language or language == '' then
    return nil
  end
  local is_good, is_there = pcall(vim.treesitter.language.add, language)
  return is_good and is_there and language or nil
end

---The group of each byte of each line that has one.
local function groups_of(lines, spans)
  local groups = {}
  for _, span in ipairs(spans) do
    for row = span.row, math.min(span.end_row, #lines - 1) do
      local line = lines[row + 1]
      local from = row == span.row and span.column or 0
      local to = row == span.end_row and span.end_column or #line
      groups[row] = groups[row] or {}
      for column = from, to - 1 do
        groups[row][column] = span.group
      end
    end
  end
  return groups
end

---Lines as virtual lines, coloured over `base`.
---@param lines string[]
---@param language string? without it all is plain
---@param base string a highlight group
---@return table[] # of each line its chunks
function M.virtual_lines(lines, language, base)
  local groups = language and groups_of(lines, M.spans(table.concat(lines, '\n'), language)) or {}
  local painted = {}
  for number, line in ipairs(lines) do
    local chunks, from = {}, 1
    local of = groups[number - 1] or {}
    for column = 1, #line do
      if of[column - 1] ~= of[column] or column == #line then
        local group = of[column - 1]
        chunks[#chunks + 1] = { line:sub(from, column), group and { base, group } or base }
        from = column + 1
      end
    end
    painted[number] = #chunks > 0 and chunks or { { '', base } }
  end
  return painted
end

return M

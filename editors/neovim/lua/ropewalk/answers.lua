---What the server asks of this editor: to save a file, and what other language servers know.
local M = {}

local SEVERITIES = { 'error', 'warning', 'information', 'hint' }

local function failure(words)
  return vim.NIL, { code = -32803, message = words }
end

---The loaded buffer of a document.
local function buffer_of(uri)
  local buffer = uri and vim.uri_to_bufnr(uri)
  return buffer and vim.api.nvim_buf_is_loaded(buffer) and buffer or nil
end

---Saves a document.
function M.save(_, params)
  local buffer = buffer_of(params.uri)
  if not buffer then
    return failure('the file is not open')
  end
  local is_saved, problem = pcall(vim.api.nvim_buf_call, buffer, function()
    vim.cmd('silent lockmarks write')
  end)
  if not is_saved then
    return failure((tostring(problem):gsub('^.-(E%d+:)', '%1')))
  end
  return vim.NIL
end

---The diagnostics shown now, of one document or of all, without our own.
function M.diagnostics(_, params)
  local buffer = buffer_of(params.uri)
  if params.uri and not buffer then
    return {}
  end
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    if diagnostic.source ~= 'ropewalk' and vim.api.nvim_buf_is_loaded(diagnostic.bufnr) then
      found[#found + 1] = {
        uri = vim.uri_from_bufnr(diagnostic.bufnr),
        line = diagnostic.lnum,
        severity = SEVERITIES[diagnostic.severity] or 'error',
        message = diagnostic.message,
        source = diagnostic.source,
      }
    end
  end
  return found
end

---Asks another language server, and waits for it without holding anything up.
---@return any result, table? problem, vim.lsp.Client? client
local function ask_other(method, params, buffer)
  local client = vim.iter(vim.lsp.get_clients({ bufnr = buffer, method = method })):find(function(one)
    return one.name ~= 'ropewalk'
  end)
  if not client then
    return failure('no language server answers this here')
  end
  local here = coroutine.running()
  local is_sent = client:request(method, params(client), function(problem, result)
    coroutine.resume(here, problem, result)
  end, buffer)
  if not is_sent then
    return failure('the language server has ended')
  end
  local problem, result = coroutine.yield()
  if problem then
    return failure(problem.message)
  end
  return result or {}, nil, client
end

---A line of a document, from its buffer or the disk.
local function line_of(uri, number)
  local buffer = buffer_of(uri)
  if buffer then
    return vim.api.nvim_buf_get_lines(buffer, number, number + 1, false)[1] or ''
  end
  local is_read, lines = pcall(vim.fn.readfile, vim.uri_to_fname(uri), '', number + 1)
  return is_read and lines[number + 1] or ''
end

---A position as another client counts it.
local function converted(uri, position, from, to)
  if from == to then
    return position
  end
  local line = line_of(uri, position.line)
  local bytes = vim.str_byteindex(line, from, position.character, false)
  return { line = position.line, character = vim.str_utfindex(line, to, bytes, false) }
end

local function encoding_of(context)
  return assert(vim.lsp.get_client_by_id(context.client_id)).offset_encoding
end

---Places as the server takes them, of any form that language servers answer with.
local function places(result, client, encoding)
  local found = {}
  for _, place in ipairs((result.uri or result.targetUri) and { result } or result) do
    local uri, range = place.uri or place.targetUri, place.range or place.targetSelectionRange
    local function ours(position)
      return converted(uri, position, client.offset_encoding, encoding)
    end
    found[#found + 1] = { uri = uri, range = { start = ours(range.start), ['end'] = ours(range['end']) } }
  end
  return found
end

---Asks about the name at a place.
local function ask_about(method, more)
  return function(_, params, context)
    local buffer, encoding = buffer_of(params.uri), encoding_of(context)
    if not buffer then
      return failure('the file is not open in the editor')
    elseif params.version and params.version ~= vim.lsp.util.buf_versions[buffer] then
      return failure('the text has changed meanwhile')
    end
    local result, problem, client = ask_other(method, function(other)
      local position = converted(params.uri, params.position, encoding, other.offset_encoding)
      return vim.tbl_extend('error', { textDocument = { uri = params.uri }, position = position }, more)
    end, buffer)
    if problem or not client then
      return result, problem
    end
    return places(result, client, encoding)
  end
end

M.definition = ask_about('textDocument/definition', {})
M.references = ask_about('textDocument/references', { context = { includeDeclaration = true } })

---Symbols in one list, those inside others after them.
local function flat(symbols, uri, container, into)
  for _, symbol in ipairs(symbols) do
    into[#into + 1] = {
      uri = uri or symbol.location.uri, range = symbol.range or symbol.location.range, name = symbol.name,
      kind = (vim.lsp.protocol.SymbolKind[symbol.kind] or 'symbol'):lower(),
      container = symbol.containerName or container,
    }
    flat(symbol.children or {}, uri, symbol.name, into)
  end
  return into
end

---The symbols of a document or of the workspace whose names have the query in them.
function M.symbols(_, params, context)
  local buffer, encoding = buffer_of(params.uri), encoding_of(context)
  if params.uri and not buffer then
    return failure('the file is not open in the editor')
  end
  local method = params.uri and 'textDocument/documentSymbol' or 'workspace/symbol'
  local result, problem, client = ask_other(method, function()
    return params.uri and { textDocument = { uri = params.uri } } or { query = params.query }
  end, buffer)
  if problem or not client then
    return result, problem
  end
  local query = params.query:lower()
  local found = vim.tbl_filter(function(symbol)
    return symbol.range and symbol.name:lower():find(query, 1, true)
  end, flat(result, params.uri, nil, {}))
  for _, symbol in ipairs(found) do
    symbol.range = places({ symbol }, client, encoding)[1].range
  end
  return found
end

return M

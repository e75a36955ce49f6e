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

---@return vim.lsp.Client? # another language server that answers this
local function other_client(method, buffer)
  return vim.iter(vim.lsp.get_clients({ bufnr = buffer, method = method })):find(function(client)
    return client.name ~= 'ropewalk'
  end)
end

---Asks another language server and answers later.
local function ask_other(method, params, buffer)
  local client = other_client(method, buffer)
  if not client then
    return failure('no language server answers this here')
  end
  local here = coroutine.running()
  local is_sent = client:request(method, params, function(problem, result)
    coroutine.resume(here, problem, result)
  end, buffer)
  if not is_sent then
    return failure('the language server has ended')
  end
  local problem, result = coroutine.yield()
  if problem then
    return failure(problem.message)
  end
  return result
end

M.ask_other, M.other_client, M.buffer_of, M.failure = ask_other, other_client, buffer_of, failure

return M

---`workspace/applyEdit`: one undo step, at the version it was made for or not at all, and not while an edit would
---harm what the user is in the middle of.
local config = require('ropewalk.config')

local M = {}

---Milliseconds to wait for the user to be done. The server gives up on an answer after ten seconds.
local PATIENCE, GLANCE = 5000, 20

local in_block_insert = false
vim.api.nvim_create_autocmd('ModeChanged', {
  callback = function()
    local from, to = vim.v.event.old_mode, vim.v.event.new_mode
    if to:find('^[iR]') then
      in_block_insert = in_block_insert or from:byte() == 22
    else
      in_block_insert = false
    end
  end,
})

---True if an edit would now destroy or misplace what the user is doing: completion, `:s///c` and block insert
---remember line numbers.
local function is_busy()
  local mode = vim.api.nvim_get_mode().mode
  return in_block_insert or mode == 'r?' or mode:find('^[iR].*[cx]$') ~= nil or vim.fn.pumvisible() == 1
end

---Lets other things happen until the user is done, or for as long as there is patience.
---@param first boolean? true to wait a moment in any case
---@return boolean is_free
local function wait_until_free(first)
  if not first and not is_busy() then
    return true
  end
  local here = coroutine.running()
  local began, timer = vim.uv.now(), assert(vim.uv.new_timer())
  timer:start(GLANCE, GLANCE, vim.schedule_wrap(function()
    local is_over = vim.uv.now() - began > PATIENCE
    if (is_busy() and not is_over) or timer:is_closing() then
      return
    end
    timer:stop()
    timer:close()
    coroutine.resume(here, not is_over)
  end))
  return coroutine.yield()
end

---Why the text can't be changed now, or nil.
local function obstacle(entry)
  local uri, version = entry.textDocument.uri, entry.textDocument.version
  local buffer = vim.uri_to_bufnr(uri)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return 'the file is not open', buffer
  elseif version ~= vim.lsp.util.buf_versions[buffer] then
    return 'the text has changed meanwhile', buffer
  elseif not vim.bo[buffer].modifiable then
    return "the buffer is not modifiable: set 'modifiable' in it", buffer
  end
  return nil, buffer
end

---Changes the text, as one undo step of its own.
local function change(buffer, edits, encoding)
  require('ropewalk.changes').about_to_change(buffer, edits)
  local was_readonly = vim.bo[buffer].readonly
  -- Neovim warns of a change in a read-only buffer, and takes a second for it.
  vim.bo[buffer].readonly = false
  vim.bo[buffer].undolevels = vim.bo[buffer].undolevels
  local is_done, problem = pcall(vim.lsp.util.apply_text_edits, edits, buffer, encoding)
  vim.bo[buffer].undolevels = vim.bo[buffer].undolevels
  vim.bo[buffer].readonly = was_readonly
  if is_done and was_readonly then
    local name = vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
    require('ropewalk.notify').show('warning', name .. ' is read-only: the change is in the buffer, :w! writes it.')
  end
  return is_done, problem
end

---Saves the file where the settings ask for it.
local function save(buffer)
  vim.schedule(function()
    if vim.api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].readonly then
      vim.api.nvim_buf_call(buffer, function()
        vim.cmd('silent! lockmarks update')
      end)
    end
  end)
end

---Makes the edit of one document, as soon as nothing is in the way.
local function apply(entry, encoding)
  local is_tried = false
  while wait_until_free(is_tried) do
    local words, buffer = obstacle(entry)
    if words then
      return words
    end
    local was_clean = not vim.bo[buffer].modified
    local is_done, problem = change(buffer, vim.deepcopy(entry.edits), encoding)
    if is_done then
      if was_clean and config.get().save then
        save(buffer)
      end
      return nil
    elseif not tostring(problem):find('E565', 1, true) then
      return tostring(problem)
    end
    is_tried = true
  end
  return 'the user is in the middle of something that an edit would harm'
end

---The handler. It may answer later.
function M.handle(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local changes = params.edit.documentChanges or {}
  if vim.iter(changes):any(function(entry) return entry.kind ~= nil end) then
    return vim.lsp.handlers['workspace/applyEdit'](nil, params, context)
  elseif params.edit.changes then
    return { applied = false, failureReason = 'an edit without a version is not made' }
  end
  for _, entry in ipairs(changes) do
    local words = apply(entry, client.offset_encoding)
    if words then
      return { applied = false, failureReason = words }
    end
  end
  return { applied = true }
end

return M

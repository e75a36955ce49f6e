---Drafts on the disk: what was written and not sent outlives the window, the buffer and Neovim.
local M = {}

local function path(name)
  local root = require('ropewalk.client').root()
  local folder = vim.fs.joinpath(vim.fn.stdpath('state'), 'ropewalk', 'drafts')
  return folder, vim.fs.joinpath(folder, ('%s-%s.md'):format(vim.fn.sha256(root):sub(1, 16), name))
end

---@param name string which input
---@return string[] lines
function M.load(name)
  local _, file = path(name)
  local is_read, lines = pcall(vim.fn.readfile, file)
  return is_read and #lines > 0 and lines or { '' }
end

---@param name string
---@param lines string[]
function M.save(name, lines)
  local folder, file = path(name)
  if #lines == 1 and lines[1] == '' then
    vim.fn.delete(file)
    return
  end
  local is_written = pcall(function()
    vim.fn.mkdir(folder, 'p', '0700')
    vim.fn.writefile(lines, file)
  end)
  if not is_written then
    vim.notify_once('Ropewalk cannot keep drafts in ' .. folder, vim.log.levels.WARN)
  end
end

---Keeps the draft of a buffer from now on: as soon as typing pauses, and whatever becomes of the buffer.
---@param buffer integer
---@param name string
function M.keep(buffer, name)
  local timer
  local function save()
    if vim.api.nvim_buf_is_loaded(buffer) then
      M.save(name, vim.api.nvim_buf_get_lines(buffer, 0, -1, true))
    end
  end
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = buffer,
    callback = function()
      if timer then
        timer:stop()
      end
      timer = vim.defer_fn(save, 200)
    end,
  })
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave', 'BufUnload', 'VimLeavePre' }, { buffer = buffer, callback = save })
end

return M

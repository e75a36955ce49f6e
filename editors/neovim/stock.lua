--- Neovim 0.11 or later without the plugin: what to put into `~/.config/nvim/init.lua`, and not beside the plugin. It gives
--- a request on a range, answers in a window of their own, a key to the next change, and a status line.

-- Answers stand below, one after the other, in a window that takes no keys from you. `messages` tells Ropewalk so: without
-- it, it shows one short line, since Neovim's own way of showing messages would swallow what you type.
local answers = vim.api.nvim_create_buf(false, true)
vim.bo[answers].filetype = 'markdown'
vim.api.nvim_buf_set_name(answers, 'Ropewalk')
local function answers_window()
  local window = vim.fn.bufwinid(answers)
  return window ~= -1 and window
    or vim.api.nvim_open_win(answers, false, { split = 'below', win = -1, height = 8 })
end
local function show_answer(_, params)
  local first = vim.api.nvim_buf_line_count(answers) + 2
  vim.api.nvim_buf_set_lines(answers, -1, -1, false, vim.split('---\n' .. params.message, '\n'))
  local is_open, window = pcall(answers_window)
  if is_open then
    local top = vim.api.nvim_buf_line_count(answers) - vim.api.nvim_win_get_height(window) + 1
    local view = { lnum = first, topline = math.max(1, math.min(first, top)) }
    vim.api.nvim_win_call(window, function() vim.fn.winrestview(view) end)
  end
end

vim.lsp.config('ropewalk', {
  cmd = { 'ropewalk', 'lsp' },
  root_dir = function(buffer, found) found(vim.fs.root(buffer, '.git') or vim.fn.getcwd()) end,
  init_options = { messages = true },
  handlers = { ['window/showMessage'] = show_answer },
})
vim.lsp.enable('ropewalk')
vim.diagnostic.config({ virtual_lines = { current_line = true } })

-- :Ropewalk REQUEST, also on a range of lines; :Ropewalk alone goes to the answers.
vim.api.nvim_create_user_command('Ropewalk', function(opts)
  if opts.args == '' then return vim.api.nvim_set_current_win(answers_window()) end
  local config = vim.deepcopy(vim.lsp.config.ropewalk)
  config.root_dir = vim.fs.root(0, '.git') or vim.fn.getcwd()
  local is_file = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) ~= ''
  local id = vim.lsp.start(config, { attach = is_file })
  if not id then return end -- Neovim has said why.
  local client = vim.lsp.get_client_by_id(id)
  -- It may be starting just now.
  if not vim.wait(5000, function() return client.initialized end, 10) then
    return vim.notify('Ropewalk has not started: see :checkhealth vim.lsp', vim.log.levels.ERROR)
  end
  local argument = { prompt = opts.args }
  if is_file then
    argument.textDocument = { uri = vim.uri_from_bufnr(0) }
    argument.range = {
      start = { line = opts.line1 - 1, character = 0 },
      ['end'] = { line = opts.line2 - 1, character = opts.range > 0 and #vim.fn.getline(opts.line2) or 0 },
    }
  end
  local command = { title = 'prompt', command = 'ropewalk.prompt', arguments = { argument } }
  client:exec_cmd(command, { bufnr = 0 }, function(err) if err then show_answer(nil, err) end end)
end, { nargs = '*', range = true })
vim.keymap.set('n', ']r', '<cmd>Ropewalk /next<CR>')

-- What it is doing, and how the last request ended, for the status line.
local status = ''
function RopewalkStatus() return status end
vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  if client and client.name == 'ropewalk' then
    status = event.data.params.value.message or ''
    vim.cmd.redrawstatus({ bang = true })
  end
end })
vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = function()
  local waits = vim.iter(vim.diagnostic.get()):any(function(d) return d.source == 'ropewalk' end)
  if not waits then status = status:gsub(' · [^·]* for review$', '') end
end })
vim.o.statusline = '%<%f %m%=%{v:lua.RopewalkStatus()}  %l,%c'

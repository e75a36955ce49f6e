-- The command, the <Plug> mappings and the colours. Nothing else is loaded before it is used.
if vim.g.loaded_ropewalk or vim.fn.has('nvim-0.11') == 0 then
  return
end
vim.g.loaded_ropewalk = true

vim.api.nvim_create_user_command('Ropewalk', function(opts)
  require('ropewalk.commands').run(opts)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Ask Ropewalk, review its changes, answer its questions',
  complete = function(...)
    return require('ropewalk.commands').complete(...)
  end,
})

for _, name in ipairs({
  'accept', 'reject', 'next', 'previous', 'edit', 'diff', 'list', 'undo', 'aside', 'again', 'chat', 'team', 'stop', 'unqueue', 'allow',
  'refuse', 'answer',
}) do
  vim.keymap.set('n', ('<Plug>(ropewalk-%s)'):format(name), ('<Cmd>Ropewalk %s<CR>'):format(name))
end
vim.keymap.set('n', '<Plug>(ropewalk-ask)', '<Cmd>Ropewalk<CR>')
vim.keymap.set('x', '<Plug>(ropewalk-ask)', ':Ropewalk<CR>', { silent = true })

local group = vim.api.nvim_create_augroup('ropewalk', {})
local function colours()
  for name, link in pairs({
    RopewalkOld = 'DiffDelete',
    RopewalkNew = 'DiffAdd',
    RopewalkPublished = 'DiffChange',
    RopewalkHint = 'Comment',
    RopewalkSign = 'Special',
    RopewalkPrompt = 'Title',
    RopewalkCall = 'Comment',
    RopewalkThinking = 'Comment',
    RopewalkGood = 'DiagnosticOk',
    RopewalkBad = 'DiagnosticError',
    RopewalkWarning = 'DiagnosticWarn',
    RopewalkInfo = 'DiagnosticInfo',
    RopewalkBorder = 'FloatBorder',
  }) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end
colours()
vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = colours })

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'BufEnter' }, {
  group = group,
  callback = function(event)
    if vim.bo[event.buf].buftype == '' and event.file ~= '' and not event.match:find('^%a[%w+.-]*://') then
      require('ropewalk.client').opened(event.buf)
    end
  end,
})
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'ropewalk://*',
  callback = function(event)
    require('ropewalk.document').read(event.buf, event.match)
  end,
})
vim.api.nvim_create_autocmd('BufFilePost', {
  group = group,
  pattern = 'ropewalk://*',
  callback = function()
    -- A session of Neovim makes our windows by name. Told of each, Neovim would want a key; the session sets this back.
    if vim.g.SessionLoad then
      vim.opt.shortmess:append('F')
    end
  end,
})
vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = group,
  callback = function()
    require('ropewalk.chat').adopt()
  end,
})

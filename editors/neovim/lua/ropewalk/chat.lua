---The conversation: a window with the transcript, and one below it with the input.
local client = require('ropewalk.client')
local config = require('ropewalk.config')
local drafts = require('ropewalk.drafts')
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local notify = require('ropewalk.notify')
local status = require('ropewalk.status')
local text = require('ropewalk.text')

local M = {}

---Milliseconds between two drawings while words come.
local EVERY = 40
local CHAT, INPUT = 'ropewalk://chat', 'ropewalk://input'
local SPACE = vim.api.nvim_create_namespace('ropewalk.chat')
---Columns from which the chat opens at the right.
local WIDE = 140
local MOST_INPUT = 10
---Rows of the screen from which the input has room for three lines at once.
local HIGH = 30

local view ---@type ropewalk.View?
local is_due = false
local offer ---@type string?

local function least_input()
  return vim.o.lines >= HIGH and 3 or 1
end

---The buffer with this name, made if there is none.
local function buffer_named(name)
  local buffer = vim.fn.bufnr('^' .. name .. '$')
  local is_new = buffer == -1
  if is_new then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_name(buffer, name)
  elseif not vim.api.nvim_buf_is_loaded(buffer) then
    vim.fn.bufload(buffer)
  end
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden = 'nofile', 'hide'
  vim.bo[buffer].buflisted, vim.bo[buffer].swapfile = false, false
  return buffer
end

local function map(buffer, modes, key, run)
  vim.keymap.set(modes, key, run, { buffer = buffer, nowait = true })
end

local function window_of(name)
  local buffer = vim.fn.bufnr('^' .. name .. '$')
  local window = buffer ~= -1 and vim.fn.bufwinid(buffer) or -1
  return window ~= -1 and window or nil
end

---@return boolean
function M.is_shown()
  return window_of(CHAT) ~= nil
end

---@return integer # bytes that were put into the transcript's buffer so far
function M.appended()
  return view and view.appended or 0
end

---Lines where nothing was said yet.
local function welcome()
  local member = hub.conversation().member
  if member then
    return { text.line(member) .. ' has said nothing yet. Ask below; ⏎ sends.' }
  end
  local lines = { 'Ask below; ⏎ sends. @ names a file, / a command.' }
  if offer then
    lines[#lines + 1] = offer
  end
  return lines
end

---What is planned or done, for the line between transcript and input.
local function headline()
  local state = hub.conversation()
  if state.member then
    return require('ropewalk.team').headline(state)
  end
  if #state.plan == 0 then
    return status.doing(state) or status.team(state) or ''
  end
  local done, now = 0, nil
  for _, todo in ipairs(state.plan) do
    done = done + (todo.status == 'completed' and 1 or 0)
    now = now or todo.status == 'in_progress' and todo.content or nil
  end
  return ('Plan %d/%d%s'):format(done, #state.plan, now and ' ▸ ' .. text.clip(text.line(now), 40) or '')
end

---What waits, the mode, the cost, for the same line.
local function figures()
  local state, parts = hub.conversation(), {}
  if state.member then
    return table.concat(status.spent(state), ' · ')
  end
  if #state.hunks > 0 then
    parts[#parts + 1] = text.changes(state.hunks)
  end
  parts[#parts + 1] = (state.running or #state.plan > 0) and status.team(state) or nil
  parts[#parts + 1] = state.mode
  return table.concat(vim.list_extend(parts, status.spent(state)), ' · ')
end

---The winbar's text: what comes from elsewhere holds no format of the winbar's.
---@return string
function M.winbar()
  local function plain(words)
    return (words:gsub('%%', '%%%%'))
  end
  return ('%%#RopewalkHint# %s %%=%%<%s '):format(plain(headline()), plain(figures()))
end

---Shows below the draft what waits, and what Enter does.
local function draw_below()
  local window = window_of(INPUT)
  if not window then
    return
  end
  local buffer = vim.api.nvim_win_get_buf(window)
  vim.api.nvim_buf_clear_namespace(buffer, SPACE, 0, -1)
  local virtual = {}
  local state = hub.conversation()
  for _, one in ipairs(state.queued) do
    local words = ('◌ waits: %s'):format(text.clip(text.line(one.prompt), 50))
    virtual[#virtual + 1] = { { words, 'RopewalkInfo' }, { '  ' .. keys.hint('unqueue') .. ' takes it back', 'RopewalkHint' } }
  end
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  local is_empty = last == 0 and vim.api.nvim_buf_get_lines(buffer, 0, 1, true)[1] == ''
  local to = state.member and ' to ' .. text.line(state.member) or ''
  local words = not state.running and '⏎ sends' .. to .. ' · C-j new line'
    or is_empty and '⏎ joins this turn · M-⏎ waits for its end · C-c stops' or '⏎ joins · M-⏎ waits'
  vim.api.nvim_buf_set_extmark(buffer, SPACE, last, 0, {
    virt_lines = #virtual > 0 and virtual or nil,
    virt_text = (is_empty or state.running or state.member) and { { is_empty and words or '  ' .. words, 'RopewalkHint' } } or nil,
    virt_text_pos = is_empty and 'overlay' or 'eol_right_align',
  })
  local height = vim.api.nvim_win_text_height(window, {}).all
  vim.api.nvim_win_set_height(window, math.max(least_input(), math.min(height, MOST_INPUT)) + 1)
end

local function draw_now()
  is_due = false
  if not M.is_shown() or not view or not vim.api.nvim_buf_is_loaded(view.buffer) then
    return
  end
  view:update(hub.conversation(), welcome())
  local window = window_of(INPUT)
  if window then
    vim.wo[window][0].winbar = M.winbar()
  end
  draw_below()
end

local function draw_soon()
  if not is_due and M.is_shown() then
    is_due = true
    vim.defer_fn(draw_now, EVERY)
  end
end

---Sends what the input holds: to the running turn, or as a request of its own.
---@param waits boolean true if it waits for the end of what runs
function M.send(waits)
  local buffer = vim.fn.bufnr('^' .. INPUT .. '$')
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local words = vim.trim(table.concat(lines, '\n'))
  if words == '' then
    return
  end
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, { '' })
  drafts.save('chat', { '' })
  local function failed()
    M.put_back(words)
  end
  local is_command = words:sub(1, 1) == '/'
  local state = hub.conversation()
  if state.running and not waits and not is_command then
    return client.command('steer', { text = words, member = state.member }, function(problem)
      if problem then
        require('ropewalk.ask').send(words, nil, failed, state.member)
      end
    end)
  end
  require('ropewalk.ask').send(words, nil, failed, state.member)
end

---Puts words before what the input holds.
---@param words string
function M.put_back(words)
  local buffer = M.buffers()
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local all = vim.split(words, '\n', { plain = true })
  if #lines > 1 or lines[1] ~= '' then
    vim.list_extend(all, lines)
  end
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, all)
  drafts.save('chat', all)
end

---Stops what runs in a conversation.
local function stop(state)
  if not (state.running or state.is_summing) then
    return notify.show('info', 'Nothing is running.')
  end
  client.command('interrupt', { member = state.member })
end

---Stops what runs in the user's own conversation.
function M.stop()
  stop(hub.state)
end

---Stops what runs in the conversation that is looked at.
local function stop_shown()
  stop(hub.conversation())
end

---Takes the last request that waits back into the input.
function M.unqueue()
  local state = hub.conversation()
  local last = state.queued[#state.queued]
  if not last then
    return notify.show('info', 'No request waits.')
  end
  client.command('unqueue', { turn = last.turn, member = state.member }, function(problem, result)
    if problem then
      return notify.show('error', problem)
    end
    hub.take({ type = 'unqueued', turn = last.turn, session = state.session, member = state.member })
    M.put_back(result and result.prompt or last.prompt)
    draw_now()
  end)
end

---Shows the details of what the cursor is on, or the whole of it in a window.
local function open_item(is_whole)
  local item = view and view:item_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not item then
    return
  elseif item.kind == 'set_aside' then
    return require('ropewalk.document').show_aside(nil, nil, item)
  elseif item.kind == 'more' then
    return require('ropewalk.past').load(hub.conversation(), item.before)
  elseif item.kind == 'call' and is_whole then
    return require('ropewalk.document').show_result(item)
  elseif item.kind == 'call' or item.kind == 'thread' or item.kind == 'thinking' then
    view:toggle(item)
  end
end

local function close()
  for _, name in ipairs({ INPUT, CHAT }) do
    local window = window_of(name)
    if window then
      pcall(vim.api.nvim_win_close, window, false)
    end
  end
end

local function set_up_input(buffer)
  vim.bo[buffer].filetype = 'markdown'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, drafts.load('chat'))
  drafts.keep(buffer, 'chat')
  require('ropewalk.completion').attach(buffer)
  map(buffer, { 'n', 'i' }, '<CR>', function()
    require('ropewalk.completion').enter(function() M.send(false) end)
  end)
  map(buffer, { 'n', 'i' }, '<M-CR>', function() M.send(true) end)
  map(buffer, 'i', '<C-j>', '<CR>')
  map(buffer, { 'n', 'i' }, '<C-c>', stop_shown)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'WinResized' }, { buffer = buffer, callback = draw_below })
  vim.b[buffer].ropewalk_is_set_up = true
end

local function set_up_chat(buffer)
  vim.bo[buffer].modifiable, vim.bo[buffer].undolevels = false, -1
  map(buffer, 'n', '<CR>', function() open_item(false) end)
  map(buffer, 'n', 'K', function() open_item(true) end)
  map(buffer, 'n', 'q', close)
  map(buffer, 'n', '<C-c>', stop_shown)
  map(buffer, 'n', '<BS>', function() M.show(nil) end)
  map(buffer, 'n', 'i', M.toggle)
  view = require('ropewalk.view').new(buffer)
  vim.b[buffer].ropewalk_is_set_up = true
end

---The two buffers, made and set up where they aren't.
---@return integer input
---@return integer chat
function M.buffers()
  local input, chat = buffer_named(INPUT), buffer_named(CHAT)
  if not vim.b[input].ropewalk_is_set_up then
    set_up_input(input)
  end
  if not vim.b[chat].ropewalk_is_set_up or not view or view.buffer ~= chat then
    set_up_chat(chat)
  end
  return input, chat
end

local function set_window(window, is_input)
  local wo = vim.wo[window][0]
  wo.wrap, wo.linebreak, wo.breakindent, wo.number, wo.relativenumber = true, true, true, false, false
  wo.signcolumn, wo.foldcolumn, wo.spell, wo.list, wo.cursorline = 'no', '1', false, false, false
  wo.fillchars = 'eob: '
  wo.winfixheight, wo.winfixwidth = is_input, true
  wo.statusline = is_input and ' Ropewalk: your words' or " Ropewalk%{v:lua.require'ropewalk.chat'.title()}"
end

---The session's name, for the transcript's status line.
function M.title()
  local state = hub.conversation()
  if state.member then
    return ': ' .. text.line(state.member) .. ' · <BS> leads back'
  end
  local title = text.line(state.title)
  return title ~= '' and ': ' .. text.clip(title, 60) or ''
end

---Tells of the last conversation, where this Neovim has none yet.
local function offer_last()
  if hub.state.session or #hub.state.items > 0 then
    return
  end
  client.command('sessions', {}, function(problem, sessions)
    local last = not problem and type(sessions) == 'table' and sessions[1]
    if last and not last.current and not last.inUse and not hub.state.session then
      local pick = require('ropewalk.pick')
      offer = ('Last conversation: %s · :Ropewalk continue'):format(pick.session_words(last))
      draw_soon()
    end
  end)
end

local function open_windows()
  local settings = config.get().chat
  local input, chat = M.buffers()
  local is_right = settings.position == 'right' or settings.position == 'auto' and vim.o.columns >= WIDE
  local window = vim.api.nvim_open_win(chat, true, is_right and { split = 'right', win = -1, width = settings.width }
    or { split = 'below', win = -1, height = math.floor(vim.o.lines * settings.height) })
  set_window(window, false)
  local below = vim.api.nvim_open_win(input, true, { split = 'below', win = window, height = least_input() + 1 })
  set_window(below, true)
  view.generation = nil
  draw_now()
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(chat), 0 })
end

---Opens the conversation, or leads to its input.
function M.toggle(words)
  client.start(vim.api.nvim_get_current_buf())
  local window = window_of(INPUT)
  if window and window_of(CHAT) then
    vim.api.nvim_set_current_win(window)
  else
    close()
    open_windows()
    offer_last()
  end
  if type(words) == 'string' and words ~= '' then
    M.put_back(words)
  end
  vim.cmd.startinsert({ bang = true })
end

---Shows the conversation of a member of the team, or the user's own, with the cursor where words to it are written.
---@param member { name: string, session: string? }?
function M.show(member)
  hub.look_at(member)
  M.toggle()
end

---Makes windows that a session of Neovim has restored ours again.
function M.adopt()
  if not window_of(CHAT) and not window_of(INPUT) then
    return
  end
  vim.schedule(function()
    client.start(vim.api.nvim_get_current_buf())
    M.buffers()
    for name, is_input in pairs({ [CHAT] = false, [INPUT] = true }) do
      local window = window_of(name)
      if window then
        set_window(window, is_input)
      end
    end
    view.generation = nil
    draw_now()
    offer_last()
  end)
end

hub.listen(function(event)
  if event.type == 'session_started' then
    offer = nil
  end
  if view and (event.type == 'looked_at' or event.type == 'session_started') then
    view.generation = nil
  end
  if event.type == 'teammate' and event.session ~= hub.conversation().session then
    return
  end
  draw_soon()
end)

vim.api.nvim_create_autocmd('VimResized', { callback = draw_soon })

return M

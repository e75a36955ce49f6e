---Questions of running calls. They are shown in a float that takes no keys; only a command of the user's answers.
local client = require('ropewalk.client')
local float = require('ropewalk.float')
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local notify = require('ropewalk.notify')
local text = require('ropewalk.text')

local M = {}

---Rows of a command that the float shows, and the part of the screen; `:Ropewalk answer` shows all.
local MOST_ROWS, PART = 10, 4

---The question that stood on the screen when the command line was opened: the one that a command typed there answers.
local seen_at_cmdline ---@type integer?
local in_cmdline = false

---The lines of a question: why, the command, what it won't see.
local function body_of(asked)
  local lines = text.lines(asked.detail)
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  local about = {}
  if asked.member then
    about[#about + 1] = 'asked by ' .. text.line(asked.member) .. (asked.agent and ' (' .. text.line(asked.agent) .. ')' or '')
  elseif asked.agent then
    about[#about + 1] = 'asked by ' .. text.line(asked.agent)
  end
  if asked.unseen and #asked.unseen > 0 then
    about[#about + 1] = 'does not see your unsaved text of ' .. text.line(table.concat(asked.unseen, ', '))
  end
  return lines, about
end

---Who asks: a teammate by its name.
local function asker(asked)
  return asked.member and text.clip(text.line(asked.member), 30) or 'Ropewalk'
end

local function title_of(asked)
  local others = #hub.state.approvals - 1
  local more = others > 0 and (' (and %d more)'):format(others) or ''
  local why = text.line(asked.reason ~= '' and asked.reason or asked.tool)
  return asker(asked) .. ' asks' .. more .. ': ' .. text.clip(why, vim.o.columns - 30)
end

local function draw()
  local asked = hub.state.approvals[1]
  if not asked or M.asked == asked then
    return float.close('approval')
  end
  local lines, about = body_of(asked)
  local most = math.min(MOST_ROWS, math.floor(vim.o.lines / PART))
  if #lines > most then
    local more = #lines - most
    lines = vim.list_slice(lines, 1, most)
    lines[#lines + 1] = ('… %d more lines: %s shows all'):format(more, keys.hint('answer'))
  end
  local width = vim.o.columns - 8
  lines = vim.tbl_map(function(line) return text.clip(line, width * 2) end, lines)
  local groups = {}
  for _, words in ipairs(about) do
    lines[#lines + 1] = words
    groups[#lines] = 'RopewalkWarning'
  end
  lines[#lines + 1] = keys.hints({ 'allow', 'refuse', 'answer' })
  groups[#lines] = 'RopewalkHint'
  float.show('approval', {
    lines = lines, groups = groups, title = title_of(asked), corner = 'bottom', border_group = 'RopewalkWarning',
  })
end

---Sends an answer to one question.
local function send(asked, answer, words)
  local argument = { approval = asked.approval, session = asked.session or hub.state.session, answer = answer }
  argument.words = words ~= '' and words or nil
  client.command('approve', argument)
end

---The question that the user means: the one on the screen, if it stood there when the command line was opened.
local function meant()
  local asked = hub.state.approvals[1]
  if not asked then
    notify.show('info', 'Nothing waits for your answer.')
    return nil
  elseif seen_at_cmdline ~= nil and seen_at_cmdline ~= asked.approval then
    notify.show('warning', 'Another question has come meanwhile: look at it, then answer.')
    return nil
  end
  return asked
end

local ANSWERS = { [''] = 'once', once = 'once', session = 'session', always = 'always', save = 'afterSave' }

---`:Ropewalk allow [session|always|save]`
function M.allow(words)
  local answer = ANSWERS[words]
  if not answer then
    return notify.show('error', ':Ropewalk allow takes nothing (once), session, always or save.')
  end
  local asked = meant()
  if not asked then
    return
  elseif answer == 'session' and not asked.rule or answer == 'always' and not asked.always then
    return notify.show('error', 'No rule can cover this call: :Ropewalk allow (once) or :Ropewalk refuse.')
  end
  send(asked, answer, '')
end

---`:Ropewalk refuse [WORDS FOR THE MODEL]`
function M.refuse(words)
  local asked = meant()
  if asked then
    send(asked, 'refuse', words)
  end
end

---What can be answered to a question, each with its key.
local function choices(asked)
  local all = { { key = 'o', answer = 'once', short = 'once', words = 'Allow once' } }
  if asked.rule then
    local rule = text.line(asked.ruleWords or asked.rule)
    all[#all + 1] = { key = 's', answer = 'session', short = 'session', words = 'Allow this session: ' .. rule }
    if asked.always then
      all[#all + 1] = { key = 'a', answer = 'always', short = 'always', words = 'Always allow: ' .. rule }
    end
  end
  if asked.unseen and #asked.unseen > 0 then
    all[#all + 1] = { key = 'f', answer = 'afterSave', short = 'after saving', words = 'Allow once the files are saved' }
  end
  all[#all + 1] = { key = 'n', answer = 'refuse', short = 'no', words = 'Refuse' }
  return all
end

local function close_answer()
  if M.window and vim.api.nvim_win_is_valid(M.window) then
    vim.api.nvim_win_close(M.window, true)
  end
  M.window, M.asked = nil, nil
  draw()
end

---The keys in a few words, for the border: there they stay while a command is read that doesn't fit.
local function footer_of(asked)
  local parts = vim.tbl_map(function(choice) return choice.key .. ' ' .. choice.short end, choices(asked))
  return (' %s · q close '):format(table.concat(parts, ' · '))
end

---Opens a question with keys for its answers. The keys answer this question and no other.
function M.answer()
  local asked = meant()
  if not asked then
    return
  end
  close_answer()
  local lines, about = body_of(asked)
  table.insert(lines, 1, '')
  table.insert(lines, 1, text.line(asked.reason))
  vim.list_extend(lines, about)
  lines[#lines + 1] = ''
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].modifiable = true
  vim.bo[buffer].bufhidden = 'wipe'
  for _, choice in ipairs(choices(asked)) do
    lines[#lines + 1] = ('[%s] %s'):format(choice.key, choice.words)
    vim.keymap.set('n', choice.key, function()
      close_answer()
      send(asked, choice.answer, '')
    end, { buffer = buffer, nowait = true })
  end
  lines[#lines + 1] = '[q] Close without an answer'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  vim.bo[buffer].modifiable = false
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, close_answer, { buffer = buffer, nowait = true })
  end
  local width = math.max(20, vim.o.columns - 8)
  local height = math.max(3, math.min(#lines, vim.o.lines - 6))
  M.asked = asked
  draw()
  vim.api.nvim_create_autocmd('BufWipeout', { buffer = buffer, once = true, callback = vim.schedule_wrap(function()
    if M.asked == asked then
      close_answer()
    end
  end) })
  local fits = height >= #lines
  M.window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor', row = math.floor((vim.o.lines - height) / 2) - 1, col = 3, width = width, height = height,
    border = 'rounded', title = (' %s asks '):format(asker(asked)), footer = not fits and footer_of(asked) or nil, zindex = 70, style = 'minimal',
  })
  vim.wo[M.window].wrap = true
  local first_choice = #lines - #choices(asked)
  vim.api.nvim_win_set_cursor(M.window, { fits and first_choice or 1, fits and 1 or 0 })
end

vim.api.nvim_create_autocmd('CmdlineEnter', {
  callback = function()
    in_cmdline = true
    seen_at_cmdline = hub.state.approvals[1] and hub.state.approvals[1].approval or false
  end,
})
vim.api.nvim_create_autocmd('CmdlineLeave', {
  callback = function()
    in_cmdline = false
    -- The command of this command line runs after it.
    vim.schedule(function()
      if not in_cmdline then
        seen_at_cmdline = nil
      end
    end)
  end,
})

hub.listen(function(event, state)
  local kind = event.type
  if kind == 'approval_requested' then
    notify.bell()
  end
  if kind == 'approval_requested' or kind == 'approval_resolved' or kind == 'session_started' or kind == 'disconnected' then
    if M.asked and not vim.tbl_contains(state.approvals, M.asked) then
      close_answer()
    end
    draw()
  end
end)

return M

---The team in a window: who works on what, and the tasks of its board. From here a teammate's conversation is opened, and
---a teammate ended.
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local notify = require('ropewalk.notify')
local status = require('ropewalk.status')
local text = require('ropewalk.text')

local M = {}

local NAME = 'ropewalk://team'
local SPACE = vim.api.nvim_create_namespace('ropewalk.team')
local MOST_ROWS = 14
local LEAD = status.LEAD

local STATES = {
  working = { '▸', 'RopewalkInfo' }, idle = { '○', 'RopewalkHint' }, shutdown = { '■', 'RopewalkHint' },
  gone = { '✗', 'RopewalkBad' },
}
local STATUSES = {
  pending = { '○', 'RopewalkHint' }, in_progress = { '▸', 'RopewalkInfo' }, completed = { '✓', 'RopewalkGood' },
  failed = { '✗', 'RopewalkBad' }, cancelled = { '■', 'RopewalkHint' },
}
---The order of tasks: what is under way comes first, what is over last.
local ORDER = { in_progress = 1, failed = 2, pending = 3, completed = 4, cancelled = 5 }

---@class ropewalk.TeamRow
---@field [1] string
---@field icon string? group of its first character
---@field group string? of the whole line
---@field member ropewalk.TeamMember? whose conversation the line leads to

---@return ropewalk.TeamMember?
local function member_named(name)
  return vim.iter(hub.state.team):find(function(one) return one.name == name end)
end

---True if a member can be spoken to and ended: it lives in this server and is not the lead.
local function is_teammate(member)
  return member.name ~= LEAD and member.session ~= nil and member.state ~= 'shutdown'
end

---What of a member is shown behind its name: its role, its work, what it has used.
local function about(member, name_width)
  local name = text.clip(text.line(member.name), name_width)
  name = name .. (' '):rep(name_width - vim.fn.strdisplaywidth(name))
  local parts = { member.name == LEAD and 'yours' or text.line(member.role), status.member(member) }
  if member.tokens > 0 then
    parts[#parts + 1] = text.tokens(member.tokens) .. ' tokens'
  end
  return name .. '  ' .. table.concat(vim.tbl_filter(function(part) return part ~= '' end, parts), ' · ')
end

local function task_row(task)
  local sign = STATUSES[task.status] or STATUSES.pending
  local words = ('%s #%d %s'):format(sign[1], task.number, text.line(task.subject))
  if task.owner then
    words = words .. ' · ' .. text.line(task.owner)
  end
  if #(task.blockedBy or {}) > 0 then
    words = words .. ' · waits for ' .. table.concat(vim.tbl_map(function(one) return '#' .. one end, task.blockedBy), ', ')
  end
  local is_over = task.status == 'completed' or task.status == 'cancelled'
  return { words, icon = sign[2], group = is_over and 'RopewalkHint' or nil, member = task.owner and member_named(task.owner) }
end

---The tasks of the board: what is under way first, what is over last.
local function tasks()
  local all = vim.tbl_values(hub.state.board)
  table.sort(all, function(one, other)
    local a, b = ORDER[one.status] or 3, ORDER[other.status] or 3
    if a ~= b then
      return a < b
    end
    return one.number < other.number
  end)
  return all
end

---The lines of the window.
---@return ropewalk.TeamRow[]
local function rows()
  local shown, width = {}, 4
  for _, member in ipairs(hub.state.team) do
    width = math.max(width, math.min(20, vim.fn.strdisplaywidth(text.line(member.name))))
  end
  for _, member in ipairs(hub.state.team) do
    local sign = STATES[member.state] or STATES.idle
    local is_over = member.state == 'shutdown'
    shown[#shown + 1] = {
      sign[1] .. ' ' .. about(member, width), icon = sign[2], group = is_over and 'RopewalkHint' or nil, member = member,
    }
  end
  local all = tasks()
  if #all > 0 then
    local done = #vim.tbl_filter(function(task) return task.status == 'completed' end, all)
    shown[#shown + 1] = { '' }
    shown[#shown + 1] = { ('Tasks %d/%d'):format(done, #all), group = 'RopewalkPrompt' }
    vim.list_extend(shown, vim.tbl_map(task_row, all))
  end
  return shown
end

---@return integer?
local function buffer_of()
  local buffer = vim.fn.bufnr('^' .. NAME .. '$')
  return buffer ~= -1 and buffer or nil
end

---Shows the team as it is now, where its window is open.
local function draw()
  local buffer = buffer_of()
  if not buffer or vim.fn.bufwinid(buffer) == -1 then
    return
  end
  local shown = rows()
  vim.b[buffer].ropewalk_members = vim.tbl_map(function(row) return row.member and row.member.name or '' end, shown)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.tbl_map(function(row) return row[1] end, shown))
  vim.bo[buffer].modifiable, vim.bo[buffer].modified = false, false
  vim.api.nvim_buf_clear_namespace(buffer, SPACE, 0, -1)
  for number, row in ipairs(shown) do
    local line = number - 1
    if row.group then
      vim.api.nvim_buf_set_extmark(buffer, SPACE, line, 0, { end_col = #row[1], hl_group = row.group })
    end
    if row.icon then
      vim.api.nvim_buf_set_extmark(buffer, SPACE, line, 0, {
        end_col = #vim.fn.strcharpart(row[1], 0, 1), hl_group = row.icon, priority = 5000,
      })
    end
  end
end

---Rows of the screen from which the team stays in sight beside a conversation.
local HIGH = 40

---Opens the conversation of a member.
---@param member ropewalk.TeamMember
local function converse(member)
  local buffer = buffer_of()
  local window = buffer and vim.fn.bufwinid(buffer) or -1
  if window ~= -1 and vim.o.lines < HIGH then
    pcall(vim.api.nvim_win_close, window, false)
  end
  local chat = require('ropewalk.chat')
  if member.name == LEAD then
    return chat.show(nil)
  elseif not member.session then
    return notify.show('info', ('%s works in another process: its conversation is not here.'):format(text.line(member.name)))
  end
  chat.show(member)
end

---Ends a teammate. Its task goes back to the board.
---@param name string
local function stop(name)
  client.command('team', { stop = name }, function(problem)
    notify.show(problem and 'error' or 'info', problem or text.line(name) .. ' was asked to end.')
  end)
end

local function member_at_cursor()
  local names = vim.b.ropewalk_members or {}
  return member_named(names[vim.api.nvim_win_get_cursor(0)[1]] or '')
end

---Asks before a teammate is ended, for the key is one letter.
local function ask_to_stop()
  local member = member_at_cursor()
  if not member or not is_teammate(member) then
    return notify.show('info', 'No teammate at the cursor that could be ended.')
  end
  vim.ui.select({ 'Let it work', 'End it: its task goes back to the board' }, {
    prompt = text.line(member.name),
  }, function(_, choice)
    if choice == 2 then
      stop(member.name)
    end
  end)
end

local function set_up(buffer)
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].swapfile = 'nofile', 'hide', false
  local function map(key, run)
    vim.keymap.set('n', key, run, { buffer = buffer, nowait = true })
  end
  map('<CR>', function()
    local member = member_at_cursor()
    if member then
      converse(member)
    end
  end)
  map('x', ask_to_stop)
  map('q', '<Cmd>close<CR>')
end

---Opens the window, or leads to it.
local function open()
  local buffer = buffer_of()
  if not buffer then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, NAME)
  end
  set_up(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    return vim.api.nvim_set_current_win(window)
  end
  local height = math.min(#rows() + 1, MOST_ROWS)
  window = vim.api.nvim_open_win(buffer, true, { split = 'below', win = -1, height = height })
  local wo = vim.wo[window][0]
  wo.winbar = '%#RopewalkHint# Team · ⏎ its conversation · x ends it · q closes'
  wo.wrap, wo.number, wo.relativenumber, wo.signcolumn, wo.winfixheight = false, false, false, 'no', true
  wo.cursorline, wo.statusline = true, ' Ropewalk: team'
  draw()
end

---A teammate in one line: its name, role, and what it does.
---@param state ropewalk.State its conversation
---@return string
function M.headline(state)
  -- One that has ended has no session any more.
  local member = member_named(state.member)
  local parts = { text.line(state.member) }
  if member then
    parts[#parts + 1] = member.role ~= '' and text.line(member.role) or nil
    parts[#parts + 1] = text.clip(status.member(member), 40)
  end
  local doing = status.doing(state)
  parts[#parts + 1] = doing
  return table.concat(parts, ' · ')
end

---@return string[] # what can follow `:Ropewalk team`
function M.names()
  local names = vim.tbl_map(function(member) return member.name end, hub.state.team)
  for _, member in ipairs(hub.state.team) do
    if is_teammate(member) then
      names[#names + 1] = 'end ' .. member.name
    end
  end
  return names
end

---`:Ropewalk team [NAME | end NAME]`
---@param words string
function M.run(words)
  local to_end = words:match('^end%s+(%S+)$')
  if to_end then
    return stop(to_end)
  elseif words == LEAD then
    return require('ropewalk.chat').show(nil)
  elseif #hub.state.team < 2 and next(hub.state.board) == nil then
    return notify.show('info', 'No team works here. Ask for one: “Create 3 tasks on the board, then spawn alice and bob.”')
  elseif words == '' then
    return open()
  end
  local member = member_named(words)
  if not member then
    local names = vim.tbl_map(function(one) return text.line(one.name) end, hub.state.team)
    return notify.show('error', ('There is no %s in the team: %s.'):format(text.line(words), table.concat(names, ', ')))
  end
  converse(member)
end

hub.listen(function(event)
  if event.type == 'team' or event.type == 'board_task' or event.type == 'session_started' then
    draw()
  end
end)

return M

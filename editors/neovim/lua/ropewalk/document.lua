---Buffers named `ropewalk://…`: a proposed file, a change as it is edited, a diff, what a call has printed.
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local notify = require('ropewalk.notify')
local text = require('ropewalk.text')

local M = {}

---Names of documents that show files that are not there yet.
local NEW = 'ropewalk://new/'

---A buffer of ours with this name, empty the first time.
local function buffer_named(name, kind)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\[]*?{},$~') .. '$')
  if buffer == -1 or not vim.api.nvim_buf_is_valid(buffer) then
    buffer = vim.api.nvim_create_buf(false, false)
    vim.bo[buffer].modifiable = true
    vim.bo[buffer].buftype = kind
    vim.bo[buffer].swapfile = false
    vim.api.nvim_buf_set_name(buffer, name)
  end
  vim.bo[buffer].buftype = kind
  return buffer
end

---Puts lines into a buffer that only shows them.
local function fill(buffer, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  vim.bo[buffer].modifiable, vim.bo[buffer].modified = false, false
end

---The lines of a text, without an empty one behind its last line end.
local function lines_of(words)
  return text.lines((words:gsub('\n$', '')))
end

---Sets the type of a file with this name, without what a type's plugins do to a real file.
local function colour_as(buffer, path, lines)
  local filetype = vim.filetype.match({ filename = path, contents = lines })
  if filetype then
    vim.bo[buffer].filetype = filetype
  end
end

---The name of a document that stands for a file, on one line.
local function name_for(what, file)
  return ('ropewalk://%s/%s'):format(what, (text.line(file):gsub('[%s%%#]', '_')))
end

---Calls `done` with the whole of a change: long ones come without their text.
local function whole(hunk, done)
  if hunk.new or hunk.diff and hunk.kind ~= 'text' and hunk.kind ~= 'create' then
    return done(hunk)
  end
  client.request('ropewalk/hunk', { hunk = hunk.id, session = hub.state.session }, function(problem, result)
    if problem then
      return notify.show('error', problem)
    end
    done(vim.tbl_extend('force', hunk, result))
  end)
end

---The text of a file with all proposed changes, as the server has it.
local function proposed(hunk, done)
  client.request('ropewalk/document', { uri = hunk.uri }, function(problem, result)
    if not problem and result then
      return done(result.text or '')
    end
    whole(hunk, function(all) done(all.new or '') end)
  end)
end

local function show_in_window(buffer)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_buf(0, buffer)
end

---The name of the document that shows a new file, or another change of a file that is not there under its name.
---@param hunk table
function M.name_of_new(hunk)
  local name = name_for('new', hunk.file)
  return hunk.kind == 'create' and name or ('%s.%d'):format(name, hunk.id)
end

---Shows a file that is not there yet, or in words what becomes of one.
---@param hunk table
function M.show_new(hunk)
  local buffer = buffer_named(M.name_of_new(hunk), 'nofile')
  show_in_window(buffer)
  vim.b[buffer].ropewalk_hunks, vim.b[buffer].ropewalk_path = { hunk.id }, vim.uri_to_fname(hunk.uri)
  local _, number = hub.hunk(hunk.id)
  local what = hunk.kind == 'create' and 'new file ' or ''
  local words = ('%s%s · change %d/%d · %s'):format(what, text.line(hunk.file), number or 0, #hub.state.hunks,
    keys.hints({ 'accept', 'reject' }))
  vim.wo[0][0].winbar = '%#RopewalkHint#' .. words:gsub('%%', '%%%%') .. '%<'
  if hunk.kind ~= 'create' then
    return whole(hunk, function(all) fill(buffer, lines_of(all.diff)) end)
  end
  proposed(hunk, function(whole_text)
    local lines = lines_of(whole_text)
    fill(buffer, lines)
    colour_as(buffer, hunk.file, lines)
  end)
end

---Shows in a document's windows what comes after it: the file if it is there by now, else what was before.
local function leave(buffer, window)
  vim.api.nvim_win_call(window, function()
    local path = vim.b[buffer].ropewalk_path
    local target = path and vim.uv.fs_stat(path) and vim.fn.bufadd(path) or vim.fn.bufnr('#')
    if target > 0 and target ~= buffer then
      vim.bo[target].buflisted = true
      vim.api.nvim_win_set_buf(window, target)
    end
  end)
end

---Leaves documents of new files whose change waits no longer. Those that are in no window go, for they would be shown
---again as if something could be done with them.
local function leave_settled()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local ids = vim.b[buffer].ropewalk_hunks
    if ids and ids[1] and vim.startswith(vim.api.nvim_buf_get_name(buffer), NEW) and not hub.hunk(ids[1]) then
      vim.b[buffer].ropewalk_hunks = {}
      for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
        leave(buffer, window)
      end
      if #vim.fn.win_findbuf(buffer) == 0 then
        vim.api.nvim_buf_delete(buffer, { force = true })
      end
    end
  end
end

---Opens the proposed lines of a change; writing the buffer puts the user's in their place.
---@param hunk table
function M.edit(hunk)
  whole(hunk, function(all)
    local name = ('%s.%d'):format(name_for('edit', hunk.file), hunk.id)
    local buffer = buffer_named(name, 'acwrite')
    if not vim.bo[buffer].modified then
      local lines = lines_of(all.new)
      vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
      vim.bo[buffer].modified = false
      colour_as(buffer, hunk.file, lines)
    end
    local height = math.min(vim.api.nvim_buf_line_count(buffer) + 2, math.floor(vim.o.lines / 2))
    vim.api.nvim_open_win(buffer, true, { split = 'below', win = 0, height = height })
    vim.wo[0][0].winbar = '%#RopewalkHint#Your lines for this change · :w puts them in its place'
    local ends = all.new == '' or all.new:sub(-1) == '\n'
    vim.api.nvim_create_autocmd('BufWriteCmd', {
      group = vim.api.nvim_create_augroup('ropewalk.edit.' .. buffer, {}),
      buffer = buffer,
      callback = function() M.send_edit(buffer, hunk, ends) end,
    })
  end)
end

---Sends what the user has written in a change's place.
function M.send_edit(buffer, hunk, ends)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local words = table.concat(lines, '\n') .. (ends and not (#lines == 1 and lines[1] == '') and '\n' or '')
  vim.bo[buffer].modified = false
  client.command('edit', { hunk = hunk.id, text = words, session = hub.state.session }, function(problem)
    if problem then
      vim.bo[buffer].modified = true
      return notify.show('error', problem .. '\nYour lines are in the buffer ' .. vim.api.nvim_buf_get_name(buffer))
    end
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      if #vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(window)) > 1 then
        vim.api.nvim_win_close(window, false)
      end
    end
  end)
end

---Two texts side by side in a tab of their own.
local function side_by_side(left, right)
  vim.cmd('tab split')
  vim.api.nvim_win_set_buf(0, left)
  vim.cmd.diffthis()
  vim.api.nvim_open_win(right, true, { split = 'right', win = 0 })
  vim.cmd.diffthis()
  vim.wo[0][0].winbar = '%#RopewalkHint#Proposed · q closes'
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = right, nowait = true })
end

---Shows the file of a change beside how it would be with all proposed changes.
---@param hunk table
function M.diff(hunk)
  if hunk.kind == 'create' then
    return M.show_new(hunk)
  elseif hunk.kind ~= 'text' then
    return whole(hunk, function(all) M.show_text(name_for('diff', hunk.file), all.diff, 'diff') end)
  end
  proposed(hunk, function(whole_text)
    local path = vim.uri_to_fname(hunk.source or hunk.uri)
    local right = buffer_named(name_for('proposed', hunk.file), 'nofile')
    vim.bo[right].bufhidden = 'wipe'
    fill(right, lines_of(whole_text))
    local left = vim.fn.bufadd(path)
    vim.fn.bufload(left)
    side_by_side(left, right)
    colour_as(right, path)
  end)
end

---Shows a text in a window of its own.
---@param name string
---@param words string
---@param filetype string?
function M.show_text(name, words, filetype)
  local buffer = buffer_named(name, 'nofile')
  fill(buffer, lines_of(words))
  vim.bo[buffer].filetype = filetype or ''
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    return vim.api.nvim_set_current_win(window)
  end
  vim.api.nvim_open_win(buffer, true, { split = 'above', win = 0 })
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, nowait = true })
end

---Shows all that a call has printed, or given the model.
---@param item ropewalk.Item
function M.show_result(item)
  local name = name_for('output', item.call)
  client.request('ropewalk/result', { call = item.call, session = hub.conversation().session }, function(problem, result)
    local words = not problem and (type(result) == 'table' and (result.text or result.result) or result)
    M.show_text(name, type(words) == 'string' and words or table.concat(item.pieces))
  end)
end

---@return ropewalk.Item? # the last change that typing has displaced
function M.last_aside()
  return vim.iter(hub.state.items):rfind(function(item)
    return item.kind == 'set_aside'
  end)
end

---Shows the last change that typing has displaced; the user's text stands in the file.
function M.show_aside(_, _, item)
  item = item or M.last_aside()
  if not item then
    return notify.show('info', 'No change of yours has displaced a proposed one.')
  end
  local lines = { 'Your text of ' .. text.line(item.file) .. ' stays as it is. You typed into this change:', '' }
  for _, part in ipairs({ { '-', item.old }, { '+', item.new } }) do
    for _, line in ipairs(part[2] and part[2] ~= '' and lines_of(part[2]) or {}) do
      lines[#lines + 1] = part[1] .. line
    end
  end
  M.show_text(name_for('displaced', item.file), table.concat(lines, '\n'), 'diff')
end

---Fills a buffer that was opened by its name, as sessions of Neovim do.
---@param buffer integer
---@param name string
function M.read(buffer, name)
  if name == 'ropewalk://chat' or name == 'ropewalk://input' then
    return require('ropewalk.chat').adopt()
  end
  vim.bo[buffer].buftype, vim.bo[buffer].buflisted = 'nofile', false
  local new = vim.iter(hub.state.hunks):find(function(hunk)
    return vim.startswith(name, NEW) and M.name_of_new(hunk) == name
  end)
  if new then
    return M.show_new(new)
  end
  fill(buffer, { 'This text is not kept. :Ropewalk chat leads to the conversation.' })
end

hub.listen(function(event)
  if event.type == 'hunks' then
    leave_settled()
  end
end)

return M

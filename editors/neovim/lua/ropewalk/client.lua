---The one language client of this Neovim: it starts the server, keeps it alive, and carries requests to it.
local config = require('ropewalk.config')
local hub = require('ropewalk.hub')

local M = {}

---Server deaths within `PATIENCE` seconds after which it is not started again.
local MOST_DEATHS, PATIENCE = 3, 60

local id ---@type integer?
local is_ready, is_leaving, is_stopped = false, false, false
local waiting = {} ---@type (fun(client: vim.lsp.Client?))[]
local buffers = {} ---@type table<integer, true>
local deaths = {} ---@type integer[]
local session_before ---@type string?

local function warn(words)
  require('ropewalk.notify').show('error', words)
end

local function notice_once(words)
  if M.problem ~= words then
    M.problem = words
    warn(words)
  end
end

---True if this buffer holds a file that the server is to know.
local function is_file(buffer)
  return vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == ''
    and vim.api.nvim_buf_get_name(buffer) ~= '' and not vim.api.nvim_buf_get_name(buffer):find('^%a[%w+.-]*://')
end

---The folder that a file belongs to.
local function root_of(buffer)
  local name = buffer and is_file(buffer) and vim.api.nvim_buf_get_name(buffer)
  local root = name and vim.fs.root(name, '.git')
  if root then
    return root
  end
  local here = assert(vim.uv.cwd())
  return (not name or vim.fs.relpath(here, name)) and here or vim.fs.dirname(name)
end

local flush

---Starts the server anew for each buffer that had it, unless it keeps dying.
local function ended(code, signal)
  id, is_ready = nil, false
  if is_leaving or is_stopped then
    return
  end
  local now = vim.uv.now()
  deaths = vim.tbl_filter(function(at)
    return now - at < PATIENCE * 1000
  end, deaths)
  deaths[#deaths + 1] = now
  hub.take({ type = 'disconnected' })
  if #deaths > MOST_DEATHS then
    flush(nil)
    local how = signal ~= 0 and 'signal ' .. signal or 'exit code ' .. code
    return notice_once(('Ropewalk keeps ending (%s). See :checkhealth ropewalk, then :Ropewalk restart.'):format(how))
  end
  session_before = hub.state.session
  M.start()
end

---Runs what waits for the server: with the client, or with nil where there is none.
function flush(client)
  local queue = waiting
  waiting = {}
  for _, run in ipairs(queue) do
    run(client)
  end
end

---Changes of documents that are held back while an edit is made, so that all of it comes in one notification.
local held ---@type table<string, table>?

local function hold(params)
  local uri = params.textDocument.uri
  local before = held[uri]
  if before then
    vim.list_extend(before.contentChanges, params.contentChanges)
    before.textDocument = params.textDocument
  else
    held[uri] = params
  end
end

---Runs `change`, which edits buffers, and tells the server of all it did at once: of a part alone it could not say
---whose it is.
---@param change fun(): ...
---@return any ...
function M.at_once(change)
  held = {}
  local results = { pcall(change) }
  local all = held
  held = nil
  local client = M.client()
  for _, params in pairs(client and all or {}) do
    client.rpc.notify('textDocument/didChange', params)
  end
  if not results[1] then
    error(results[2], 0)
  end
  return unpack(results, 2)
end

---The server's process, whose violent end Neovim would show in a prompt that takes keys.
local function process(command, root)
  return function(dispatchers)
    local quiet = {}
    for name, dispatch in pairs(dispatchers) do
      quiet[name] = dispatch
    end
    quiet.on_exit = function(code, signal)
      vim.schedule(function()
        ended(code, signal)
      end)
      dispatchers.on_exit(0, 0)
    end
    local rpc = vim.lsp.rpc.start(command, quiet, { cwd = root })
    local notify = rpc.notify
    function rpc.notify(method, params)
      if held and method == 'textDocument/didChange' then
        hold(params)
        return true
      elseif method == 'textDocument/didOpen' then
        local document = params.textDocument
        require('ropewalk.moves').opened(vim.uri_to_bufnr(document.uri), document.version)
      end
      return notify(method, params)
    end
    return rpc
  end
end

local function initialized(client, result)
  M.problem = nil
  local version = vim.tbl_get(result, 'serverInfo', 'version')
  local ours = require('ropewalk.version')
  if version ~= ours then
    notice_once(('This plugin is for Ropewalk %s, the program `%s` is %s. Run `ropewalk setup neovim`, or update the program.')
      :format(ours, config.get().cmd[1], version or 'another one'))
  end
  -- The open files are told of after this.
  vim.schedule(function()
    is_ready = id == client.id
    if session_before then
      M.command('resume', { session = session_before }, function() end)
      session_before = nil
    end
    if is_ready then
      flush(client)
    end
  end)
end

---What draws: loaded with the server, so that nothing it tells is missed.
local SURFACES = { 'changes', 'accepted', 'review', 'document', 'approval', 'status', 'notices', 'past', 'progress' }

local function handlers()
  local answers = require('ropewalk.answers')
  return {
    ['ropewalk/event'] = function(_, event)
      hub.take(event)
    end,
    ['workspace/applyEdit'] = require('ropewalk.apply').handle,
    ['ropewalk/save'] = answers.save,
    ['ropewalk/diagnostics'] = answers.diagnostics,
    ['ropewalk/symbols'] = answers.symbols,
    ['ropewalk/definition'] = answers.definition,
    ['ropewalk/references'] = answers.references,
    ['window/showMessage'] = function(_, params)
      require('ropewalk.notify').show(({ 'error', 'warning' })[params.type] or 'info', params.message)
      return vim.NIL
    end,
  }
end

---Where the program is not there, says so and gives nil.
local function command_line()
  local command = config.get().cmd
  if vim.fn.executable(command[1]) == 0 then
    notice_once(('The program `%s` is not on your PATH. Install it, or set `cmd` in vim.g.ropewalk. See :checkhealth ropewalk.')
      :format(command[1]))
    return nil
  end
  return command
end

---Starts the server if it does not run, and shows it the file of `buffer`.
---@param buffer integer?
---@return boolean is_there true if it runs or starts
function M.start(buffer)
  if not id then
    local command = command_line()
    if not command then
      flush(nil)
      return false
    end
    local root = root_of(buffer or next(buffers) or vim.api.nvim_get_current_buf())
    local own = config.get().settings
    -- The keys of the team's table go along spelled with a dot: its name is an option of ours too.
    local team = {}
    for key, value in pairs(type(own.team) == 'table' and own.team or {}) do
      team['team.' .. key] = value
    end
    local settings = vim.tbl_extend('force', own, team, {
      events = true, drawsHunks = true, approvals = true, threads = true, plugin = true, checkedEdits = true,
      knowledge = true, team = true,
    })
    is_stopped = false
    vim.iter(SURFACES):each(function(name) require('ropewalk.' .. name) end)
    id = vim.lsp.start({
      name = 'ropewalk', cmd = process(command, root), root_dir = root, init_options = settings,
      handlers = handlers(), flags = { debounce_text_changes = 0, exit_timeout = false },
      on_init = initialized,
    }, { attach = false, silent = true, reuse_client = function() return false end })
    if not id then
      flush(nil)
      notice_once('Ropewalk did not start. See :checkhealth ropewalk.')
      return false
    end
    for known in pairs(buffers) do
      M.attach(known)
    end
  end
  if buffer and is_file(buffer) then
    M.attach(buffer)
  end
  return true
end

---Shows the server the file of this buffer, and its folder if that is a new one.
---@param buffer integer
function M.attach(buffer)
  if not is_file(buffer) then
    buffers[buffer] = nil
    return
  end
  buffers[buffer] = true
  local client = id and vim.lsp.get_client_by_id(id)
  if not client or client.attached_buffers[buffer] then
    return
  end
  local root = root_of(buffer)
  local is_known = vim.iter(client.workspace_folders or {}):any(function(folder)
    return vim.fs.relpath(folder.name, root) ~= nil
  end)
  if not is_known then
    local folder = { uri = vim.uri_from_fname(root), name = root }
    M.ready(function(ready)
      if ready then
        ready:notify('workspace/didChangeWorkspaceFolders', { event = { added = { folder }, removed = {} } })
        ready.workspace_folders = vim.list_extend(ready.workspace_folders or {}, { folder })
      end
    end)
  end
  vim.lsp.buf_attach_client(buffer, id)
end

---A file is open in this buffer: the server starts with it, or is shown it.
---@param buffer integer
function M.opened(buffer)
  if not is_file(buffer) or buffers[buffer] and id then
    return
  end
  if id or config.get().autostart and vim.fn.executable(config.get().cmd[1]) == 1 and not is_stopped then
    M.start(buffer)
    require('ropewalk.changes').draw(buffer)
  end
end

---Calls `run` with the client as soon as the server takes requests, or with nil where there is none.
---@param run fun(client: vim.lsp.Client?)
function M.ready(run)
  local client = is_ready and id and vim.lsp.get_client_by_id(id)
  if client then
    return run(client)
  end
  waiting[#waiting + 1] = run
  M.start(vim.api.nvim_get_current_buf())
end

---@param method string
---@param params table
---@param done fun(problem: string?, result: any)? without it a problem is shown
function M.request(method, params, done)
  done = done or function(problem)
    if problem then
      warn(problem)
    end
  end
  M.ready(function(client)
    if not client then
      return done(M.problem or 'Ropewalk is not running.')
    end
    local is_sent = client:request(method, params, function(problem, result)
      done(problem and problem.message or nil, result)
    end, 0)
    if not is_sent then
      done('Ropewalk has just ended. Try again.')
    end
  end)
end

---Runs a command of the server's, such as `accept`.
---@param name string without `ropewalk.`
---@param argument table?
---@param done fun(problem: string?, result: any)?
function M.command(name, argument, done)
  local arguments = argument and next(argument) and { argument } or {}
  M.request('workspace/executeCommand', { command = 'ropewalk.' .. name, arguments = arguments }, done)
end

---@return vim.lsp.Client?
function M.client()
  return id and vim.lsp.get_client_by_id(id)
end

---Ends the server and starts it again, for the buffers that it had.
function M.restart()
  local client = M.client()
  deaths, M.problem = {}, nil
  if not client then
    return M.start(vim.api.nvim_get_current_buf())
  end
  client:stop()
end

---@return string # the folder that the session is about
function M.root()
  local client = M.client()
  return client and client.root_dir or root_of(vim.api.nvim_get_current_buf())
end

vim.api.nvim_create_autocmd('VimLeavePre', {
  callback = function()
    is_leaving = true
  end,
})
vim.api.nvim_create_autocmd('BufUnload', {
  callback = function(event)
    buffers[event.buf] = nil
  end,
})

return M

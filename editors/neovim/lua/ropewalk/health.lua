---`:checkhealth ropewalk`: the program, its version, what it says of itself, the client, the settings.
local M = {}

---How each level of `doctor` is reported.
local REPORTS = { ok = vim.health.ok, note = vim.health.info }

---Runs the program, for a few seconds at most.
local function run(command)
  local is_run, result = pcall(function()
    return vim.system(command, { text = true, timeout = 10000 }):wait()
  end)
  return is_run and result or nil
end

---True if a finding of `doctor` says something here: not of files that need not be there, nor of pages about editors.
local function is_told(finding)
  local is_absent = finding.level == 'ok' and finding.what:find('(not there', 1, true)
  return not is_absent and finding.about ~= 'editors' and finding.about ~= 'ropewalk'
end

---What `doctor --json` says, each with its way out.
local function doctor(program)
  local result = run({ program, 'doctor', '--json' })
  local is_json, findings = pcall(vim.json.decode, result and result.stdout or '', { luanil = { object = true } })
  if not is_json or type(findings) ~= 'table' then
    return vim.health.info('In a terminal: `ropewalk doctor`')
  end
  for _, finding in ipairs(vim.tbl_filter(is_told, findings)) do
    local report = REPORTS[finding.level] or vim.health.error
    local what = finding.about and finding.about .. ': ' .. finding.what or finding.what
    local advice = finding.mend and vim.split(finding.mend, '\n') or nil
    if advice and report ~= vim.health.error then
      what = what .. '\n' .. finding.mend
    end
    report(what, advice)
  end
end

local function check_program(program)
  vim.health.start('Ropewalk: the program')
  if vim.fn.executable(program) == 0 then
    vim.health.error(('`%s` is not on your PATH'):format(program),
      { 'Install it, and start Neovim from a shell that finds it',
        "Or set vim.g.ropewalk = { cmd = { '/path/to/ropewalk', 'lsp' } }" })
    return
  end
  local ours = require('ropewalk.version')
  local result = run({ program, '--version' })
  local version = result and vim.trim(result.stdout or ''):match('%d+%.%d+%.%S*')
  if version == ours then
    vim.health.ok(('%s, version %s'):format(vim.fn.exepath(program), version))
  else
    vim.health.warn(('%s is version %s, this plugin is for %s'):format(vim.fn.exepath(program), version or '?', ours),
      { 'Run `ropewalk setup neovim`', 'Or update the program' })
  end
  doctor(program)
end

local function check_client()
  vim.health.start('Ropewalk: in this Neovim')
  local client = require('ropewalk.client')
  local running = client.client()
  if not running then
    vim.health.info(client.problem or 'The server is not running; it starts with the first file or request.')
  else
    local files = require('ropewalk.text').count(vim.tbl_count(running.attached_buffers), 'open file', 'open files')
    vim.health.ok(('It runs in %s and knows %s'):format(running.root_dir, files))
  end
  for _, stock in ipairs(vim.lsp.get_clients()) do
    if stock.name == 'ropewalk' and running and stock.id ~= running.id then
      vim.health.warn('Another client named ropewalk runs',
        { "Take vim.lsp.enable('ropewalk') out of your configuration: the plugin starts the server by itself" })
    end
  end
  for _, problem in ipairs(require('ropewalk.config').problems()) do
    vim.health.error(problem, { 'See :help ropewalk-settings' })
  end
end

---Called by `:checkhealth`.
function M.check()
  check_program(require('ropewalk.config').get().cmd[1])
  check_client()
end

return M

---What a hint names: the user's own key for something, else the command.
local M = {}

---@param name string a subcommand, such as `accept`
---@return string # such as `<Space>a` or `:Ropewalk accept`
function M.hint(name)
  local plug, command = ('<Plug>(ropewalk-%s)'):format(name), 'Ropewalk ' .. name
  for _, mapping in ipairs(vim.api.nvim_get_keymap('n')) do
    local to = mapping.rhs or ''
    local is_ours = vim.startswith(mapping.lhs, '<Plug>')
    if not is_ours and (to == plug or to:gsub('<[cC][rR]>$', ''):gsub('^<[cC]md>', ''):gsub('^:', '') == command) then
      return (vim.fn.keytrans(mapping.lhsraw or mapping.lhs):gsub('<Space>', '␣'))
    end
  end
  return ':' .. command
end

return M

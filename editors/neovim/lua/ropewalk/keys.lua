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

---How two or more things are done, in a few words: `␣a accept · ␣x reject`, or `:Ropewalk accept | reject`.
---@param names string[]
---@return string
function M.hints(names)
  local all, has_key = {}, false
  for _, name in ipairs(names) do
    local hint = M.hint(name)
    local is_key = not vim.startswith(hint, ':Ropewalk ')
    has_key = has_key or is_key
    all[#all + 1] = is_key and hint .. ' ' .. name or hint
  end
  return has_key and table.concat(all, ' · ') or ':Ropewalk ' .. table.concat(names, ' | ')
end

return M

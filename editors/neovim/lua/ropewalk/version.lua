---The version of Ropewalk that this plugin is part of: the program should be of the same.
return '0.1.0'

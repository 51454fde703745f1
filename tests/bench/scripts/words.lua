-- Fifty records with three of thirty words. keyed gets them in the body, PostgREST in the URL.

local head = os.getenv("METHOD") .. " " .. os.getenv("ADDRESS")
local headers = " HTTP/1.1\r\n" .. os.getenv("HEADERS")
local body = os.getenv("BODY")
local words = {}
for word in os.getenv("WORDS"):gmatch("%a+") do words[#words + 1] = word end

function request()
  local third = #words / 3
  local one, two = words[math.random(third)], words[third + math.random(third)]
  local three = words[2 * third + math.random(third)]
  if not body then return string.format(head, one, two, three) .. headers .. "\r\n" end
  local text = string.format(body, one, two, three)
  return head .. headers .. "Content-Type: application/json\r\nContent-Length: " .. #text .. "\r\n\r\n" .. text
end

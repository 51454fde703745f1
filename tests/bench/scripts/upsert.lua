-- An upsert of four attributes. FRESH percent of the keys are new, the others among the first RECORDS. With RACERS,
-- this many consecutive requests share a new key.

local records, fresh = tonumber(os.getenv("RECORDS")), tonumber(os.getenv("FRESH"))
local racers, sent = tonumber(os.getenv("RACERS")), 0
local head = os.getenv("METHOD") .. " " .. os.getenv("ADDRESS") .. " HTTP/1.1\r\n" .. os.getenv("HEADERS")
head = head .. "Content-Type: application/json\r\nContent-Length: "
local body = os.getenv("BODY")

function request()
  local random = math.random
  local key = random(1, records)
  if random(1, 100) <= fresh then key = random(1000000000, 1000000000000) end
  if racers then key = seed * 1000000 + math.floor(sent / racers) end
  sent = sent + 1
  local text = string.format(body, key, random(1, 1000000), random(1, 1000000), random(1, 1000000), random(1, 1000000))
  return head .. #text .. "\r\n\r\n" .. text
end

-- Status and body report whether the record was created; both must agree.
function response_of_keyed(status, _, body)
  if status == 201 and body:find('"created":true', 1, true) then
    created = created + 1
  elseif status ~= 200 or not body:find('"created":false', 1, true) then
    refuse(status, body)
  end
end

function response_of_keyed_creating(status, _, body)
  if status == 201 and body:find('"external_key":"A-', 1, true) then created = created + 1 else refuse(status, body) end
end

function response_of_postgrest(status, _, body)
  if status ~= 200 and status ~= 201 or not body:find('"id":', 1, true) then refuse(status, body) end
end

response = _G["response_of_" .. os.getenv("PEER")]

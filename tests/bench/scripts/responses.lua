-- Precedes every script for wrk: counts the responses and prints the results that the benchmark reads.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("seed", os.getenv("SEED") + #threads)
end

function init()
  math.randomseed(seed)
end

-- Each thread has its own copy of these; `done` adds them up.
created, wrong, example = 0, 0, ""

function refuse(status, body)
  -- wrk itself counts statuses above 399.
  if status < 400 then wrong = wrong + 1 end
  example = status .. " " .. body
end

function done(summary, latency)
  for _, thread in ipairs(threads) do
    created = created + thread:get("created")
    wrong = wrong + thread:get("wrong")
    if thread:get("example") ~= "" then example = thread:get("example") end
  end
  local errors = summary.errors
  print("result requests " .. summary.requests)
  print("result microseconds " .. summary.duration)
  print("result bytes " .. summary.bytes)
  for place = 1, #latency do
    local microseconds, count = latency(place)
    print(string.format("latency %d %d", microseconds, count))
  end
  print("result created " .. created)
  print("result refused " .. errors.status + wrong)
  print("result broken " .. errors.connect + errors.read + errors.write + errors.timeout)
  print("example " .. example)
end

"use strict";
(function () {
	const section = document.getElementById("live");
	const element = (id) => document.getElementById(id);
	// Drawing takes this host's time, which may be the one that measures: a tenth of it at most.
	const DRAW_MS = 1000;
	const DRAW_SHARE = 10;
	let cost = 0;
	let source = null;
	let run = "";
	let data = empty();
	let due = null;

	function empty() {
		return { samples: [], trials: [], end: 0, start: null, places: new Map(), seconds: 0, sent: 0, received: 0, line: 0, tests: 0 };
	}

	function say(text) {
		if (element("state").textContent !== text) element("state").textContent = text;
	}

	function row(cells, heads, name) {
		const line = document.createElement("tr");
		if (name) line.className = name;
		cells.forEach((cell, i) => {
			const box = document.createElement(i < heads ? "th" : "td");
			if (i < heads) box.scope = "row";
			else if (/^[\d.,–-]+$/.test(cell)) box.className = "figure";
			box.textContent = cell;
			line.append(box);
		});
		return line;
	}

	// Shown while the server does not answer; then the earlier text again.
	const LOST = "The connection is lost; trying again.";
	let before = "";
	function lose() {
		if (element("state").textContent !== LOST) before = element("state").textContent;
		say(LOST);
	}
	function regain() {
		if (element("state").textContent === LOST) say(before);
	}

	const whole = (value) => Math.round(value).toLocaleString("en");
	const figure = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");

	function current() {
		return data.trials[data.trials.length - 1];
	}

	function seconds(at) {
		if (data.start === null) data.start = at;
		data.end = Math.max(data.end, at - data.start);
		return at - data.start;
	}

	// A line is never more than full, whatever two clocks make of it.
	const percent = (value) => figure(Math.min(value, 100), 1);

	// The latest figures, large: those of the last sample in which packets were sent.
	function now(line) {
		if (data.over || line.event === "closed" || !line.received_pps) return;
		const trial = current();
		element("figures-now").hidden = false;
		element("trial").textContent = `${trial?.label}: ${trial?.text || ""}`;
		element("mpps").textContent = figure(line.received_pps / 1e6, line.received_pps >= 1e7 ? 2 : 3);
		element("percent").textContent = data.line ? `${percent((100 * line.received_pps) / data.line)} %` : "–";
		element("lost").textContent = data.sent ? `${figure(Math.max(0, 100 * (1 - data.received / data.sent)), 3)} %` : "–";
		element("left").textContent = data.seconds ? `${figure(Math.max(0, data.seconds - line.at_us / 1e6), 1)} s` : "–";
		element("count").textContent = `${trial?.number}${data.tests ? `, ${data.tests} tests in all` : ""}`;
	}

	const take = {
		status(line) {
			data.tests = line.tests.length;
			// A run that has ended has its results instead.
			data.over = line.status !== "running";
			if (data.over) element("figures-now").hidden = true;
			if (line.status === "running") say(`${line.dut}: ${line.tests.join(", ")} are to be measured`);
			else say(`${run}: ${line.status}${line.problem ? `, ${line.problem}` : ""}`);
		},
		trial(line) {
			data.places = new Map();
			data.sent = data.received = 0;
			data.line = line.line_pps || 0;
			data.trials.push({ number: line.number, label: line.label, loadtest: line.loadtest, text: line.text, line: data.line, start: seconds(line.at), end: null });
			say(`${line.label}, ${line.text}: preparing`);
		},
		sending(line) {
			data.seconds = line.seconds;
			const load = line.seconds ? ` for ${line.seconds} s, ${figure(line.scale_ppm / 1e4, 1)} % of the line` : "";
			say(`${current()?.label}: sending${load}`);
		},
		sample(line) {
			const to = seconds(line.at);
			const lost = new Map(line.packets.filter(([, kind]) => kind === "loss").map(([place, , n]) => [place, n]));
			for (const [place, kind, n] of line.packets) {
				const key = kind === "loss" ? `lost: ${place}` : `${kind}: ${place}`;
				const [sum] = data.places.get(key) || [0];
				data.places.set(key, [sum + n, n / line.seconds]);
			}
			const sample = { ...line, from: Math.max(0, to - line.seconds), to, lost };
			data.samples.push({ ...sample, nodes: Charts.nodes(sample) });
			// Points that are not drawn any more have been counted.
			if (data.samples.length > Charts.DRAWN) data.samples.shift();
			data.sent += line.sent_pps * line.seconds;
			data.received += line.received_pps * line.seconds;
			now(line);
			element("progress").value = data.seconds ? Math.min(1, line.at_us / 1e6 / data.seconds) : 0;
		},
		draining() {
			say(`${current()?.label}: draining`);
		},
		closed(line) {
			// After the sending there is little to see, and all to count.
			take.sample(line);
			if (current()) current().end = seconds(line.at);
		},
		measured() {},
		result(line) {
			const rates = line.valid ? [figure(line.received_pps / 1e6, 3), percent(line.line_percent), figure(line.loss_percent, 4)] : ["–", "–", "–"];
			element("results-part").hidden = false;
			const why = line.valid ? line.sentence : line.invalid[0];
			const limit = line.valid ? line.limit : "invalid";
			element("results").append(row([line.trial, ...rates, limit, why], 1, line.valid ? "" : "invalid"));
			const rate = line.valid ? `${rates[0]} million packets a second, limit ${limit}` : `invalid: ${why}`;
			say(`${line.trial}: ${rate}`);
		},
	};

	function tables() {
		const places = [...data.places].map(([key, [sum, rate]]) => row([key, whole(sum), whole(rate)], 1));
		element("places").replaceChildren(...places);
		const last = data.samples[data.samples.length - 1];
		const lines = [];
		for (const [worker, spent] of Object.entries(last ? last.workers : {})) {
			for (const [node, values] of Object.entries(spent.nodes)) {
				const [calls, vectors, clocks] = values;
				if (!vectors) continue;
				lines.push(row([
					worker, node, whole(vectors / last.seconds), figure(vectors / calls, 1),
					clocks ? figure(clocks / vectors, 1) : "–", figure((100 * clocks) / spent.clocks, 1),
				], 2));
			}
		}
		element("nodes").replaceChildren(...lines);
	}

	function redraw() {
		due = null;
		const began = performance.now();
		// First, since what is hidden has no width to draw in.
		if (data.samples.length) section.dataset.samples = data.samples.length;
		else delete section.dataset.samples;
		Charts.draw(data);
		tables();
		cost = performance.now() - began;
	}

	function soon() {
		if (due === null) due = setTimeout(redraw, Math.max(DRAW_MS, DRAW_SHARE * cost));
	}

	function begin(name) {
		run = name;
		data = empty();
		element("results").replaceChildren();
		element("results-part").hidden = true;
		element("figures-now").hidden = true;
		const link = document.createElement("a");
		link.href = `/runs/${encodeURIComponent(name)}`;
		link.textContent = name;
		element("link").replaceChildren(link);
		section.dataset.state = "running";
	}

	function follow() {
		const named = section.dataset.run;
		source = new EventSource(`/api/live${named ? `?run=${encodeURIComponent(named)}` : ""}`);
		source.addEventListener("waiting", () => {
			if (!run) say("Nothing is being measured.");
			section.dataset.state = section.dataset.state === "ended" ? "ended" : "waiting";
		});
		source.addEventListener("run", (event) => {
			const { name, resumed } = JSON.parse(event.data);
			// All from the beginning: what was counted before would be counted twice.
			if (!resumed || name !== run) begin(name);
		});
		source.addEventListener("message", (event) => {
			const line = JSON.parse(event.data);
			if (Object.hasOwn(take, line.event)) take[line.event](line);
			soon();
		});
		source.addEventListener("end", () => {
			source.close();
			clearTimeout(due);
			redraw();
			section.dataset.state = "ended";
			// The next one may be started from anywhere.
			if (!named) setTimeout(follow, 1000);
		});
		source.addEventListener("open", regain);
		source.addEventListener("error", () => {
			lose();
			// Else the browser itself tries again, from where it was.
			if (source.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
		});
	}

	async function order(method, body) {
		const headers = { "X-Linerate": "1", "Content-Type": "application/json" };
		element("start-error").textContent = "";
		const answer = await fetch("/api/bench", { method, headers, body });
		const reply = await answer.json();
		if (answer.ok) return reply;
		element("start-error").textContent = reply.detail;
		return null;
	}

	async function bench() {
		try {
			const answer = await fetch("/api/bench");
			return answer.ok ? await answer.json() : null;
		} catch {
			return null;
		}
	}

	async function watchBench() {
		const state = await bench();
		if (!state) {
			// The server is busy, or the network gone, for a while.
			setTimeout(watchBench, 2000);
			return;
		}
		element("stop").disabled = !state.running;
		element("go").disabled = state.running || Boolean(state.run);
		if (state.running || state.run) setTimeout(watchBench, 2000);
		if (!state.running && state.exit_code && state.output && state.exit_code < 128) {
			const lines = state.output.trim().split("\n");
			element("start-error").textContent = `linerate bench ended with ${state.exit_code}: ${lines[lines.length - 1]}`;
		}
	}

	const form = element("start");
	if (form) {
		form.addEventListener("submit", async (event) => {
			event.preventDefault();
			const fields = [...new FormData(form)].filter(([, value]) => value !== "");
			const numbers = ["duration_seconds", "workers", "repeat", "directions"];
			const choices = ["latency", "accept_suspect"];
			const wanted = Object.fromEntries(fields.map(([name, value]) => (
				[name, numbers.includes(name) ? Number(value) : choices.includes(name) ? true : value]
			)));
			if (await order("POST", JSON.stringify(wanted))) {
				say("Starting…");
				element("go").disabled = true;
				watchBench();
			}
		});
		element("stop").addEventListener("click", async () => {
			if (await order("DELETE")) say("Stopping…");
		});
		watchBench();
	}
	follow();
})();

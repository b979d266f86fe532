"use strict";
// The live pictures: what is drawn of the samples. Colours are those of the reports.
const Charts = (function () {
	const PALETTE = ["#0072B2", "#E69F00", "#CC79A7", "#009E73", "#56B4E9", "#999999", "#F0E442"];
	const LOST = "#D55E00";
	const DASHES = ["solid", "dash", "dot", "dashdot"];
	const PATTERNS = ["", "/", ".", "x", "-"];
	const KINDS = {
		input: "#0072B2", forwarding: "#009E73", output: "#E69F00", "idle polls": "#56B4E9",
		"loop overhead": "#F0E442", "descheduled": "#CC79A7", asleep: "#999999",
	};
	const ENTRANCES = /^(port-rx|handoff-rx)/;
	const EXITS = /^(port-tx|tester-tx)/;
	const [CALLS, VECTORS, CLOCKS, IDLE_CLOCKS] = [0, 1, 2, 4];
	// Samples of a long run that are drawn, and kept; all are counted.
	const DRAWN = 600;
	const WIDE = 8;
	const looks = new Map();

	function look(name) {
		if (!looks.has(name)) looks.set(name, looks.size);
		const at = looks.get(name);
		const round = Math.floor(at / PALETTE.length);
		return {
			colour: PALETTE[at % PALETTE.length],
			dash: DASHES[round % DASHES.length],
			pattern: PATTERNS[round % PATTERNS.length],
		};
	}

	const { plain } = Draw;

	function kind(node) {
		if (ENTRANCES.test(node)) return "input";
		return EXITS.test(node) ? "output" : "forwarding";
	}

	function forwarders(sample) {
		return Object.entries(sample.workers).filter(([, w]) => w.role !== "tester");
	}

	// Sums over the forwarding workers, by node.
	function nodes(sample) {
		const sums = new Map();
		for (const [, worker] of forwarders(sample)) {
			for (const [name, values] of Object.entries(worker.nodes)) {
				const sum = sums.get(name) || [0, 0, 0, 0, 0];
				sums.set(name, sum.map((value, i) => value + values[i]));
			}
		}
		return sums;
	}

	function entered(sums) {
		let packets = 0;
		let most = 0;
		for (const [name, values] of sums) {
			if (ENTRANCES.test(name)) packets += values[VECTORS];
			most = Math.max(most, values[VECTORS]);
		}
		return packets || most;
	}

	// Only the first of short successive trials of one loadtest is named: there is no room for others.
	const NAMED_SHARE = 0.04;

	function bands(trials, end) {
		const shapes = [];
		const annotations = [];
		const whole = end - (trials[0]?.start ?? end);
		trials.forEach((trial, i) => {
			const stop = trial.end ?? end;
			const short = stop - trial.start < NAMED_SHARE * whole;
			shapes.push({
				type: "rect", xref: "x", yref: "paper", x0: trial.start, x1: stop, y0: 0, y1: 1,
				line: { width: 0 }, layer: "below",
				fillcolor: i % 2 ? "rgba(128,128,128,0.22)" : "rgba(128,128,128,0.10)",
			});
			if (short && trial.loadtest === trials[i - 1]?.loadtest) return;
			annotations.push({
				text: `<b>${plain(trial.label)}</b>`, x: (trial.start + stop) / 2, y: 1,
				yref: "paper", yanchor: "bottom", showarrow: false, textangle: trials.length > 6 ? -45 : 0,
			});
		});
		return { shapes, annotations };
	}

	function layout(data, more) {
		const marks = bands(data.trials, data.end);
		return {
			autosize: true, height: 320, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
			font: { family: "system-ui, sans-serif", size: 13 },
			margin: { l: 60, r: 12, t: 44, b: 48 },
			hoverlabel: { align: "left", namelength: -1 },
			showlegend: true,
			xaxis: { title: { text: "seconds", standoff: 4 }, showgrid: false, range: [0, Math.max(data.end, 1)] },
			...marks, ...more,
		};
	}

	// Lines that part between two trials.
	function series(samples, value) {
		const x = [];
		const y = [];
		let before = null;
		for (const sample of samples) {
			if (before !== null && before !== sample.number) {
				x.push(sample.from);
				y.push(null);
			}
			before = sample.number;
			x.push((sample.from + sample.to) / 2);
			y.push(value(sample));
		}
		return { x, y };
	}

	function positive(value) {
		return value > 0 ? value : null;
	}

	// Logarithmic where rates differ much; else from zero, so that a dip looks as large as it is.
	function scale(samples) {
		const known = samples.flatMap((s) => [s.sent_pps, s.received_pps]).filter((value) => value > 0);
		const most = Math.max(...known);
		if (most > WIDE * Math.min(...known)) return { type: "log" };
		return { range: [0, 1.12 * most] };
	}

	function rates(data) {
		const lines = [
			["sent", "#0072B2", "solid", (s) => positive(s.sent_pps)],
			["received", "#E69F00", "dash", (s) => positive(s.received_pps)],
		];
		const traces = lines.map(([name, color, dash, value]) => ({
			type: "scatter", mode: "lines+markers", name, marker: { size: 4 },
			line: { color, dash, width: 2 }, ...series(data.samples, value),
		}));
		const made = layout(data, { yaxis: { ...scale(data.samples), exponentformat: "SI", automargin: true } });
		// The line of each trial, where it is known.
		for (const trial of data.trials.filter((one) => one.line)) {
			made.shapes.push({
				type: "line", x0: trial.start, x1: trial.end ?? data.end, y0: trial.line, y1: trial.line,
				line: { dash: "dot", width: 2 },
			});
		}
		return [traces, made];
	}

	function names(samples) {
		const found = new Map();
		for (const sample of samples) {
			for (const [name, values] of sample.nodes) {
				if (values[VECTORS]) found.set(name, (found.get(name) || 0) + values[CLOCKS]);
			}
		}
		return [...found.keys()];
	}

	function vectors(data) {
		const traces = names(data.samples).map((name) => ({
			type: "scatter", mode: "lines", name: plain(name),
			line: { color: look(name).colour, dash: look(name).dash, width: 2 },
			...series(data.samples, (s) => {
				const values = s.nodes.get(name);
				return values && values[CALLS] ? values[VECTORS] / values[CALLS] : null;
			}),
		}));
		return [traces, layout(data, { yaxis: { rangemode: "tozero", automargin: true } })];
	}

	function clocks(data) {
		const drawn = data.samples.filter((s) => entered(s.nodes));
		const traces = names(drawn)
			.filter((name) => drawn.some((s) => s.nodes.get(name)?.[CLOCKS]))
			.map((name) => ({
				type: "bar", name: plain(name),
				x: drawn.map((s) => (s.from + s.to) / 2), width: drawn.map((s) => s.to - s.from),
				y: drawn.map((s) => (s.nodes.get(name)?.[CLOCKS] || 0) / entered(s.nodes)),
				marker: { color: look(name).colour, pattern: { shape: look(name).pattern, size: 6 } },
			}));
		const yaxis = { rangemode: "tozero", automargin: true };
		return [traces, layout(data, { barmode: "stack", yaxis })];
	}

	function share(worker) {
		const kinds = Object.fromEntries(Object.keys(KINDS).map((name) => [name, 0]));
		for (const [name, values] of Object.entries(worker.nodes)) {
			kinds[kind(name)] += values[CLOCKS];
			kinds["idle polls"] += values[IDLE_CLOCKS];
		}
		kinds["loop overhead"] = worker.overhead_clocks;
		kinds["descheduled"] = worker.away_clocks;
		kinds.asleep = worker.sleep_clocks;
		for (const name of Object.keys(kinds)) {
			kinds[name] = worker.clocks ? (100 * kinds[name]) / worker.clocks : 0;
		}
		return kinds;
	}

	function shares(data) {
		const last = data.samples[data.samples.length - 1];
		const workers = Object.entries(last.workers);
		const found = workers.map(([, worker]) => share(worker));
		const traces = Object.entries(KINDS).map(([name, color]) => ({
			type: "bar", orientation: "h", name, y: workers.map(([worker]) => plain(worker)),
			x: found.map((kinds) => kinds[name]), marker: { color },
			hovertemplate: `${name} %{x:.1f} %<extra></extra>`,
		}));
		const height = 64 + 40 * workers.length;
		return [traces, layout(data, {
			barmode: "stack", height, shapes: [], annotations: [],
			margin: { l: 60, r: 12, t: 8, b: 44 },
			xaxis: { range: [0, 100.5], title: { text: "% of the time, last sample", standoff: 4 } },
			yaxis: { automargin: true },
		})];
	}

	function losses(data) {
		const places = new Set(data.samples.flatMap((s) => [...s.lost.keys()]));
		const traces = [...places].map((place, i) => ({
			type: "bar", name: plain(place),
			x: data.samples.map((s) => (s.from + s.to) / 2),
			width: data.samples.map((s) => s.to - s.from),
			y: data.samples.map((s) => (s.lost.get(place) || 0) / s.seconds),
			marker: { color: i ? look(place).colour : LOST },
		}));
		const yaxis = { rangemode: "tozero", title: { text: "a second" }, exponentformat: "SI", automargin: true };
		return [traces, layout(data, { barmode: "stack", yaxis, showlegend: traces.length > 0 })];
	}

	const PICTURES = { rates, vectors, clocks, shares, losses };

	function draw(data) {
		if (!data.samples.length) return;
		for (const [name, picture] of Object.entries(PICTURES)) {
			const [traces, marks] = picture(data);
			Draw.plot(document.getElementById(name), { data: traces, layout: marks });
		}
	}

	return { draw, nodes, plain, CALLS, VECTORS, CLOCKS, DRAWN };
})();

"use strict";
(function () {
	const figures = JSON.parse(document.getElementById("figures").textContent);
	// Width of A4 within the margins that page.css gives it, in CSS pixels.
	const PRINTED_WIDTH = 680;
	// 10 points, its size of letters there.
	const PRINTED_PIXELS = 13.3;
	const drawn = [];

	// Closed figures have no width yet: they are drawn when opened.
	function drawVisible() {
		for (const element of document.querySelectorAll(".picture")) {
			if (!element.clientWidth || !figures[element.id] || drawn.includes(element)) continue;
			drawn.push(element);
			Draw.plot(element, figures[element.id]);
		}
	}

	function redraw(size) {
		for (const element of drawn) {
			const figure = figures[element.id];
			Draw.plot(element, { ...figure, layout: { ...figure.layout, ...size } });
		}
	}

	// Paper does not scroll: a table that is wider is made smaller.
	function fitTables() {
		const smaller = PRINTED_PIXELS / parseFloat(getComputedStyle(document.documentElement).fontSize);
		for (const table of document.querySelectorAll(".scroll > table")) {
			const width = table.offsetWidth * Math.min(smaller, 1);
			if (width > PRINTED_WIDTH) table.style.zoom = PRINTED_WIDTH / width;
		}
	}

	const opened = [];
	function beforePrint() {
		for (const details of document.querySelectorAll("details:not([open])")) {
			details.open = true;
			opened.push(details);
		}
		fitTables();
		drawVisible();
		redraw({ width: PRINTED_WIDTH });
	}
	function afterPrint() {
		for (const table of document.querySelectorAll(".scroll > table")) table.style.zoom = "";
		for (const details of opened.splice(0)) details.open = false;
		redraw({});
	}

	document.addEventListener("toggle", drawVisible, true);
	window.addEventListener("beforeprint", beforePrint);
	window.addEventListener("afterprint", afterPrint);
	drawVisible();
	document.documentElement.dataset.ready = "yes";
})();

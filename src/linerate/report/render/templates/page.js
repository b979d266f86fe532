"use strict";
(function () {
	const figures = JSON.parse(document.getElementById("figures").textContent);
	const options = { displayModeBar: false, responsive: true, scrollZoom: false };
	// Width of A4 within the margins that page.css gives it, in CSS pixels.
	const PRINTED_WIDTH = 680;
	const drawn = [];

	function draw(element) {
		const figure = figures[element.id];
		if (!figure || element.dataset.drawn) return;
		element.dataset.drawn = "yes";
		drawn.push(element);
		Plotly.newPlot(element, figure.data, figure.layout, options);
	}

	// Closed figures have no width yet: they are drawn when opened.
	function drawVisible() {
		for (const element of document.querySelectorAll(".picture")) {
			if (element.clientWidth) draw(element);
		}
	}

	// Anew, not changed: a change would be animated, and the printer does not wait.
	function redraw(size) {
		for (const element of drawn) {
			const figure = figures[element.id];
			Plotly.purge(element);
			Plotly.newPlot(element, figure.data, { ...figure.layout, ...size }, options);
		}
	}

	const opened = [];
	function beforePrint() {
		for (const details of document.querySelectorAll("details:not([open])")) {
			details.open = true;
			opened.push(details);
		}
		drawVisible();
		redraw({ autosize: false, width: PRINTED_WIDTH });
	}
	function afterPrint() {
		for (const details of opened.splice(0)) details.open = false;
		redraw({});
	}

	document.addEventListener("toggle", drawVisible, true);
	window.addEventListener("beforeprint", beforePrint);
	window.addEventListener("afterprint", afterPrint);
	drawVisible();
	document.documentElement.dataset.ready = "yes";
})();
